#include "image/dataset_writer.h"

#include "base/progress.h"
#include "base/require.h"
#include "files/file_name.h"
#include "files/hash.h"
#include "files/safetensors_header.h"
#include "image/npy.h"
#include "tensor/tensor_checks.h"

#include <tessera/files/safetensors.h>
#include <tessera/version.h>

#include <algorithm>
#include <utility>

namespace tessera::image {
namespace {

namespace fs = std::filesystem;

constexpr OutputFolder::Kind kDataset{
    "a data set of images", &Manifest::is_in,
    [](const fs::path& folder) { return Manifest::load(folder).file_names(); }};
constexpr int64_t kBatchBytes = int64_t{1} << 24;

}  // namespace

void DatasetWriter::check_folder(const fs::path& folder, Existing existing) {
  OutputFolder::check(folder, kDataset, existing);
}

DatasetWriter::DatasetWriter(const fs::path& folder, std::vector<std::string> classes,
                             Existing existing, std::optional<Manifest::Codes> codes)
    : folder_(folder, kDataset, existing) {
  manifest_.tessera_version = version();
  manifest_.classes = std::move(classes);
  manifest_.codes = std::move(codes);
  manifest_.check_classes();
}

void DatasetWriter::check_split(const std::string& name, const std::vector<int64_t>& size) {
  require_file_name(name, "the name of a split");
  require(!manifest_.splits.contains(name), "the split '{}' is there already", name);
  if (manifest_.splits.empty()) {
    manifest_.channels = size[0];
    manifest_.height = size[1];
    manifest_.width = size[2];
  }
  const std::vector<int64_t> expected{manifest_.channels, manifest_.height, manifest_.width};
  require(size == expected, "the images of the split '{}' are {}, those of the others {}", name,
          shape_text(size), shape_text(expected));
}

void DatasetWriter::stamp(const std::string& file) {
  const fs::path path = folder_.path() / file;
  manifest_.files[file] = {fs::file_size(path), file_hash(path)};
}

void DatasetWriter::add_codes(const std::string& name, const at::Tensor& codes,
                              const at::Tensor& mirrored, const at::Tensor& labels) {
  check_split(name, codes.sizes().slice(1).vec());
  require_same_dtype(codes, at::kShort, "codes");
  require_same_dtype(mirrored, at::kShort, "mirrored");
  require_shape(mirrored, codes.sizes(), "mirrored");
  safetensors::Tensors tensors{{"codes", codes}, {"mirrored", mirrored}};
  if (!manifest_.classes.empty()) {
    require_labels(labels, "labels");
    require_shape(labels, {codes.size(0)}, "labels");
    tensors["labels"] = labels;
  }
  add_file(split_file(name), [&](const fs::path& path) { safetensors::save(path, tensors); });
  manifest_.splits[name] = codes.size(0);
}

void DatasetWriter::add_file(const std::string& name,
                             const std::function<void(const fs::path&)>& write) {
  require_file_name(name, "the name of a file");
  write(folder_.path() / name);
  stamp(name);
}

void DatasetWriter::add_split(const std::string& name, const ImageSource& images,
                              const at::Tensor& labels, int64_t begin, int64_t end) {
  require(0 <= begin && begin < end && end <= images.size(), "the split '{}' would be empty", name);
  const std::vector<int64_t> size{images.channels(), images.height(), images.width()};
  check_split(name, size);

  const int64_t count = end - begin;
  safetensors::Header header;
  header.entries["images"] = {safetensors::ElementType::u8, {count, size[0], size[1], size[2]}};
  const bool labelled = !manifest_.classes.empty();
  if (labelled) {
    require_labels(labels, "labels");
    require_shape(labels, {images.size()}, "labels");
    header.entries["labels"] = {safetensors::ElementType::i64, {count}};
  }
  std::vector<std::string> order;  // labels first: their elements are larger
  const fs::path path = folder_.path() / split_file(name);
  AtomicFile file(path);
  file.write(safetensors::format_header(header, order));
  if (labelled) file.write(bytes_of(labels.slice(0, begin, end).contiguous()));
  const int64_t batch = std::max<int64_t>(1, kBatchBytes / (size[0] * size[1] * size[2]));
  Progress bar("writing " + name, count);
  for (int64_t k = begin; k < end; k += batch) {
    const int64_t next = std::min(end, k + batch);
    file.write(bytes_of(images.read(k, next)));
    bar.advance(next - k);
  }
  file.commit();
  manifest_.splits[name] = count;
  stamp(split_file(name));
}

Manifest DatasetWriter::commit(std::map<std::string, std::string> options) {
  manifest_.options = std::move(options);
  manifest_.save(folder_.path());
  folder_.commit();
  return manifest_;
}

}  // namespace tessera::image
