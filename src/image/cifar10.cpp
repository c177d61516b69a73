#include "image/cifar10.h"

#include "base/require.h"
#include "files/files.h"

#include <ATen/ops/empty.h>

#include <cstring>
#include <utility>

namespace tessera::image {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kChannels = 3, kSide = 32;
constexpr int64_t kImageBytes = kChannels * kSide * kSide, kRecordBytes = 1 + kImageBytes;
constexpr const char* kAgain = "unpack or download cifar-10-binary.tar.gz again";

// Files of records, all with the same number of them.
class Batches : public ImageSource {
 public:
  explicit Batches(std::vector<MappedFile> files)
      : ImageSource(records(files.front()) * static_cast<int64_t>(files.size()), kChannels, kSide,
                    kSide),
        files_(std::move(files)) {}

  static int64_t records(const MappedFile& file) {
    return static_cast<int64_t>(file.size()) / kRecordBytes;
  }

 private:
  at::Tensor read_range(int64_t begin, int64_t end) const override {
    at::Tensor images = at::empty({end - begin, kChannels, kSide, kSide}, at::kByte);
    uint8_t* image = images.mutable_data_ptr<uint8_t>();
    const int64_t each = records(files_.front());
    for (int64_t k = begin; k < end; ++k, image += kImageBytes)
      std::memcpy(image, files_[static_cast<size_t>(k / each)].data() + k % each * kRecordBytes + 1,
                  kImageBytes);
    return images;
  }

  std::vector<MappedFile> files_;
};

MappedFile open_batch(const fs::path& path) {
  std::error_code ignored;
  if (!fs::exists(path, ignored))
    throw Error(fmt::format("there is no '{}'", path.string()),
                "name the folder with CIFAR-10's binary version: data_batch_1.bin to "
                "data_batch_5.bin and test_batch.bin");
  MappedFile file(path);
  if (file.size() == 0 || file.size() % kRecordBytes != 0)
    throw Error(fmt::format("'{}' is cut off or no batch of CIFAR-10: {} bytes are not a number of "
                            "records of {}",
                            path.string(), file.size(), kRecordBytes),
                kAgain);
  return file;
}

void copy_labels(const MappedFile& file, const fs::path& path, size_t classes, int64_t* labels) {
  for (int64_t k = 0; k < Batches::records(file); ++k) {
    const auto label = static_cast<uint8_t>(file.data()[k * kRecordBytes]);
    if (label >= classes)
      throw Error(fmt::format("record {} of '{}' has the label {}, not one of 0 to {}", k,
                              path.string(), label, classes - 1),
                  kAgain);
    labels[k] = label;
  }
}

}  // namespace

ImageSet read_cifar10(const fs::path& folder) {
  ImageSet set;
  set.classes = {"airplane", "automobile", "bird",  "cat",  "deer",
                 "dog",      "frog",       "horse", "ship", "truck"};
  const std::map<std::string, std::vector<std::string>> names{
      {"train",
       {"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin", "data_batch_4.bin",
        "data_batch_5.bin"}},
      {"test", {"test_batch.bin"}}};
  const fs::path first = folder / names.at("train").front();
  const int64_t records = Batches::records(open_batch(first));
  for (const auto& [split, batches] : names) {
    std::vector<MappedFile> files;
    at::Tensor labels = at::empty({records * static_cast<int64_t>(batches.size())}, at::kLong);
    for (const std::string& batch : batches) {
      const fs::path path = folder / batch;
      MappedFile file = open_batch(path);
      // A file that was cut between two records.
      if (Batches::records(file) != records)
        throw Error(fmt::format("'{}' has {} images, '{}' has {}", path.string(),
                                Batches::records(file), first.string(), records),
                    kAgain);
      copy_labels(
          file, path, set.classes.size(),
          labels.mutable_data_ptr<int64_t>() + records * static_cast<int64_t>(files.size()));
      files.push_back(std::move(file));
    }
    set.parts[split] = {std::make_shared<Batches>(std::move(files)), labels};
  }
  return set;
}

}  // namespace tessera::image
