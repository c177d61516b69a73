#include "distance/distance_name.h"

#include <algorithm>
#include <cctype>

namespace tessera::distance {
namespace {

bool is_inception(std::string name) {
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return name.find("inception") != std::string::npos;
}

std::string named(const std::string& kind, const std::filesystem::path& extractor) {
  const std::string stem = extractor.stem().string();
  if (is_inception(extractor.filename().string())) return kind.substr(0, 1) + "ID";
  return stem.empty() ? kind : kind + "-" + stem;
}

}  // namespace

std::string frechet_name(const std::filesystem::path& extractor) {
  return named("FD", extractor);
}

std::string kernel_name(const std::filesystem::path& extractor) {
  return named("KD", extractor);
}

}  // namespace tessera::distance
