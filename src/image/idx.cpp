#include "image/idx.h"

#include "base/numerals.h"
#include "base/regular_file.h"
#include "base/require.h"
#include "files/byte_source.h"
#include "tensor/machine_memory.h"

#include <ATen/ops/empty.h>

#include <utility>

namespace tessera::image {
namespace {

namespace fs = std::filesystem;

// The most bytes that a file can hold: gzip makes data at most 1032 times smaller.
int64_t most_bytes(const fs::path& path) {
  require_regular_file(path);
  constexpr int64_t kDeflateTimes = 1032;
  const auto bytes = static_cast<int64_t>(fs::file_size(path));
  return path.extension() == ".gz" ? bytes * kDeflateTimes : bytes;
}

// The file, plain or compressed.
fs::path find_file(const fs::path& folder, const std::string& name) {
  std::error_code ignored;
  for (const std::string& candidate : {name, name + ".gz"})
    if (fs::exists(folder / candidate, ignored)) return folder / candidate;
  throw Error(fmt::format("there is no '{}', nor the same with .gz", (folder / name).string()),
              "name the folder with train-images-idx3-ubyte, train-labels-idx1-ubyte, "
              "t10k-images-idx3-ubyte and t10k-labels-idx1-ubyte");
}

Error cut_off(const fs::path& path, int64_t missing) {
  return Error(fmt::format("'{}' is cut off: {} missing", path.string(),
                           counted(missing, "byte is", "bytes are")),
               "download it again");
}

void fill(ByteSource& source, const fs::path& path, char* bytes, int64_t size) {
  while (size > 0) {
    const auto got = static_cast<int64_t>(source.read(bytes, static_cast<size_t>(size)));
    if (got == 0) throw cut_off(path, size);
    bytes += got;
    size -= got;
  }
}

// Numbers of the header have the highest byte first.
uint32_t read_number(ByteSource& source, const fs::path& path) {
  uint8_t bytes[4];
  fill(source, path, reinterpret_cast<char*>(bytes), sizeof bytes);
  return uint32_t{bytes[0]} << 24 | uint32_t{bytes[1]} << 16 | uint32_t{bytes[2]} << 8 | bytes[3];
}

//   dimensions  that the array must have: 3 for images, 1 for labels
at::Tensor read_array(const fs::path& path, int64_t dimensions) {
  constexpr uint32_t kBytes = 0x0800;  // the type of the elements
  const int64_t most = most_bytes(path);
  const std::unique_ptr<ByteSource> source = ByteSource::open(path);
  const uint32_t magic = read_number(*source, path);
  const uint32_t expected = kBytes | static_cast<uint32_t>(dimensions);
  if (magic != expected)
    throw Error(fmt::format("'{}' is not an idx file of {}: it begins with 0x{:08x}, not 0x{:08x}",
                            path.string(), dimensions == 3 ? "images" : "labels", magic, expected));
  std::vector<int64_t> shape;
  int64_t elements = 1;
  for (int64_t k = 0; k < dimensions; ++k) {
    shape.push_back(read_number(*source, path));
    if (__builtin_mul_overflow(elements, shape.back(), &elements))
      throw Error(fmt::format(
          "'{}' is damaged: its header announces more data than any machine has", path.string()));
  }
  if (elements > most) throw cut_off(path, elements);
  require_memory(static_cast<double>(elements), fmt::format("'{}'", path.string()),
                 "take a part of the images");
  require(elements > 0, "'{}' is empty: there is nothing in it but a header", path.string());
  at::Tensor array = at::empty(shape, at::kByte);
  fill(*source, path, static_cast<char*>(array.mutable_data_ptr()), elements);
  char more = 0;
  require(source->read(&more, 1) == 0, "'{}' is damaged: there is more in it than its header says",
          path.string());
  return array;
}

struct Files {
  fs::path images, labels;
};

ImageSet::Part read_part(const Files& files) {
  const at::Tensor images = read_array(files.images, 3).unsqueeze(1);
  at::Tensor labels = read_array(files.labels, 1).to(at::kLong);
  require(images.size(0) == labels.size(0), "'{}' has {}, '{}' {}", files.images.string(),
          counted(images.size(0), "image"), files.labels.string(),
          counted(labels.size(0), "label"));
  return {std::make_shared<TensorImages>(images), std::move(labels)};
}

}  // namespace

ImageSet read_idx(const fs::path& folder) {
  // Finds all files before reading any.
  const Files train{find_file(folder, "train-images-idx3-ubyte"),
                    find_file(folder, "train-labels-idx1-ubyte")};
  const Files test{find_file(folder, "t10k-images-idx3-ubyte"),
                   find_file(folder, "t10k-labels-idx1-ubyte")};
  ImageSet set;
  set.parts["train"] = read_part(train);
  set.parts["test"] = read_part(test);
  const ImageSource& images = *set.parts["train"].images;
  const ImageSource& others = *set.parts["test"].images;
  require(images.height() == others.height() && images.width() == others.width(),
          "the images of '{}' are {} x {}, those of '{}' {} x {}", train.images.string(),
          images.width(), images.height(), test.images.string(), others.width(), others.height());
  const int64_t last = set.parts["train"].labels.max().item<int64_t>();
  const int64_t last_of_test = set.parts["test"].labels.max().item<int64_t>();
  require(last_of_test <= last, "'{}' has the label {}, but the labels of '{}' end with {}",
          test.labels.string(), last_of_test, train.labels.string(), last);
  for (int64_t label = 0; label <= last; ++label) set.classes.push_back(std::to_string(label));
  return set;
}

}  // namespace tessera::image
