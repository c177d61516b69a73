#include "image_metric/distance_name.h"

#include <algorithm>
#include <cctype>
#include <string_view>

namespace tessera::image_metric {
namespace {

// Whether a name has a word with this beginning: "cifar10-resnet18" has one with "resnet".
bool has_word(const std::string& name, std::string_view begin) {
  for (size_t at = name.find(begin); at != std::string::npos; at = name.find(begin, at + 1))
    if (at == 0 || std::isalnum(static_cast<unsigned char>(name[at - 1])) == 0) return true;
  return false;
}

std::string named(const std::string& kind, const std::filesystem::path& extractor) {
  const std::string stem = extractor.stem().string();
  std::string lower = stem;
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (has_word(lower, "resnet")) return kind + "-ResNet";
  if (has_word(lower, "inception")) return kind.substr(0, 1) + "ID";
  return stem.empty() ? kind : kind + "-" + stem;
}

}  // namespace

std::string frechet_name(const std::filesystem::path& extractor) {
  return named("FD", extractor);
}

std::string kernel_name(const std::filesystem::path& extractor) {
  return named("KD", extractor);
}

}  // namespace tessera::image_metric
