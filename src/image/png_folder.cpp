#include "image/png_folder.h"

#include "base/log.h"
#include "base/numerals.h"
#include "base/require.h"
#include "files/files.h"
#include "image/png.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/tensor.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

namespace tessera::image {
namespace {

namespace fs = std::filesystem;
using Paths = std::vector<fs::path>;

constexpr std::array kSplits{"train", "valid", "test"};

std::string size_of(const at::Tensor& picture) {
  return fmt::format("{} x {} {}", picture.size(2), picture.size(1),
                     picture.size(0) == 1 ? "grey" : "RGB");
}

// One image per file.
class PngImages : public ImageSource {
 public:
  //   like  the file whose size and channels all must have
  PngImages(Paths files, const fs::path& like)
      : PngImages(std::move(files), like, read_png(like)) {}

 private:
  PngImages(Paths files, fs::path like, const at::Tensor& example)
      : ImageSource(static_cast<int64_t>(files.size()), example.size(0), example.size(1),
                    example.size(2)),
        files_(std::move(files)),
        like_(std::move(like)) {}

  at::Tensor read_range(int64_t begin, int64_t end) const override {
    at::Tensor images = at::empty({end - begin, channels(), height(), width()}, at::kByte);
    for (int64_t k = begin; k < end; ++k) {
      const fs::path& file = files_[static_cast<size_t>(k)];
      const at::Tensor picture = read_png(file);
      const at::Tensor place = images.select(0, k - begin);
      if (picture.sizes() != place.sizes())
        throw Error(fmt::format("'{}' is {}, '{}' is {}", like_.string(), size_of(place),
                                file.string(), size_of(picture)),
                    "all images of a set must have one size and the same channels");
      place.copy_(picture);
    }
    return images;
  }

  Paths files_;
  fs::path like_;
};

struct Listing {
  Paths files, folders;  // sorted; files are the PNGs
  int64_t others = 0;    // files left out
};

bool ends_in_png(const fs::path& path) {
  std::string ending = path.extension();
  std::transform(ending.begin(), ending.end(), ending.begin(),
                 [](unsigned char letter) { return std::tolower(letter); });
  return ending == ".png";
}

Listing list(const fs::path& folder) {
  Listing found;
  std::error_code failure;
  for (fs::directory_iterator entry(folder, failure), end; !failure && entry != end;
       entry.increment(failure)) {
    std::error_code ignored;
    if (entry->path().filename().string().starts_with('.')) continue;
    if (entry->is_directory(ignored))
      found.folders.push_back(entry->path());
    else if (ends_in_png(entry->path()))
      found.files.push_back(entry->path());
    else
      ++found.others;
  }
  if (failure) throw file_error("read", folder, failure.value());
  std::sort(found.files.begin(), found.files.end());
  std::sort(found.folders.begin(), found.folders.end());
  return found;
}

void warn_of_others(const fs::path& folder, const Listing& listing) {
  if (listing.others > 0)
    log::warn("{} in '{}' left out, because only names that end in .png are read",
              counted(listing.others, "file"), folder.string());
}

Error no_images(const fs::path& folder) {
  return Error(fmt::format("there are no .png files in '{}'", folder.string()));
}

// The images of one split; a list per class, or one list under "" without classes.
std::map<std::string, Paths> files_by_class(const fs::path& folder) {
  Listing top = list(folder);
  warn_of_others(folder, top);
  if (top.folders.empty()) {
    if (top.files.empty()) throw no_images(folder);
    return {{"", std::move(top.files)}};
  }
  if (!top.files.empty())
    throw Error(
        fmt::format("'{}' holds images ('{}') and folders ('{}')", folder.string(),
                    top.files.front().filename().string(), top.folders.front().filename().string()),
        "either all images are in folders, one for each class, or none");
  std::map<std::string, Paths> classes;
  for (const fs::path& each : top.folders) {
    Listing inside = list(each);
    warn_of_others(each, inside);
    if (inside.files.empty()) throw no_images(each);
    classes.emplace(each.filename(), std::move(inside.files));
  }
  return classes;
}

std::map<std::string, fs::path> split_folders(const fs::path& folder) {
  std::error_code ignored;
  std::map<std::string, fs::path> splits;
  for (const char* name : kSplits)
    if (fs::is_directory(folder / name, ignored)) splits.emplace(name, folder / name);
  return splits;
}

// Throws Error if there is anything beside the splits: it would be ignored.
void check_beside_splits(const fs::path& folder, const std::map<std::string, fs::path>& splits) {
  const Listing top = list(folder);
  for (const Paths* paths : {&top.folders, &top.files})
    for (const fs::path& path : *paths)
      if (!splits.contains(path.filename()))
        throw Error(
            fmt::format("'{}' lies beside the split '{}'", path.string(), splits.begin()->first),
            "if there are folders train, valid or test, all images must be in them");
}

}  // namespace

bool has_png_splits(const fs::path& folder) {
  return !split_folders(folder).empty();
}

ImageSet read_png_folder(const fs::path& folder) {
  std::error_code ignored;
  require(fs::is_directory(folder, ignored), "there is no folder '{}'", folder.string());
  std::map<std::string, fs::path> splits = split_folders(folder);
  if (splits.empty())
    splits.emplace("train", folder);
  else
    check_beside_splits(folder, splits);

  std::map<std::string, std::map<std::string, Paths>> found;  // by split, by class
  std::map<std::string, int64_t> classes;                     // of all splits, to their labels
  for (const auto& [split, path] : splits) {
    found[split] = files_by_class(path);
    for (const auto& [name, files] : found[split]) classes.emplace(name, 0);
  }
  const bool labelled = !classes.contains("");
  if (!labelled && classes.size() > 1)
    throw Error(
        fmt::format("some splits of '{}' have folders of classes, others do not", folder.string()),
        "give every split the same classes, or none");

  ImageSet set;
  for (auto& [name, label] : classes) {
    label = static_cast<int64_t>(set.classes.size());
    if (labelled) set.classes.push_back(name);
  }
  const auto& first = found.contains("train") ? found.at("train") : found.begin()->second;
  const fs::path like = first.begin()->second.front();
  for (auto& [split, by_class] : found) {
    Paths files;
    std::vector<int64_t> labels;
    for (auto& [name, paths] : by_class) {
      labels.insert(labels.end(), paths.size(), classes.at(name));
      std::move(paths.begin(), paths.end(), std::back_inserter(files));
    }
    set.parts[split] = {std::make_shared<PngImages>(std::move(files), like),
                        labelled ? at::tensor(labels, at::kLong) : at::Tensor()};
  }
  return set;
}

}  // namespace tessera::image
