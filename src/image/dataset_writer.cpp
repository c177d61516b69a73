#include "image/dataset_writer.h"

#include "base/progress.h"
#include "base/require.h"
#include "files/file_name.h"
#include "files/hash.h"
#include "files/safetensors_header.h"
#include "image/npy.h"
#include "tensor/tensor_checks.h"

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
                             Existing existing)
    : folder_(folder, kDataset, existing) {
  manifest_.tessera_version = version();
  manifest_.classes = std::move(classes);
  manifest_.check_classes();
}

void DatasetWriter::add_split(const std::string& name, const ImageSource& images,
                              const at::Tensor& labels, int64_t begin, int64_t end) {
  require_file_name(name, "the name of a split");
  require(!manifest_.splits.contains(name), "the split '{}' is there already", name);
  require(0 <= begin && begin < end && end <= images.size(), "the split '{}' would be empty", name);
  const std::vector<int64_t> size{images.channels(), images.height(), images.width()};
  if (manifest_.splits.empty()) {
    manifest_.channels = size[0];
    manifest_.height = size[1];
    manifest_.width = size[2];
  }
  const std::vector<int64_t> expected{manifest_.channels, manifest_.height, manifest_.width};
  require(size == expected, "the images of the split '{}' are {}, those of the others {}", name,
          shape_text(size), shape_text(expected));

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
  manifest_.files[split_file(name)] = {fs::file_size(path), file_hash(path)};
}

Manifest DatasetWriter::commit(std::map<std::string, std::string> options) {
  manifest_.options = std::move(options);
  manifest_.save(folder_.path());
  folder_.commit();
  return manifest_;
}

}  // namespace tessera::image
