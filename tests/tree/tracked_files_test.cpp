// A clone stays small: what is tracked, and how large it may be.

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

constexpr uint64_t kMebibyte = 1 << 20;

// None if the sources are not a clone.
std::vector<std::string> tracked_files() {
  const std::string command =
      std::string("git -c safe.directory='*' -C '") + TESSERA_SOURCE_DIR + "' ls-files -z 2>&1";
  FILE* const pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) return {};
  std::string all;
  for (int c = 0; (c = std::fgetc(pipe)) != EOF;) all += static_cast<char>(c);
  if (::pclose(pipe) != 0) return {};
  std::vector<std::string> names;
  std::istringstream stream(all);
  for (std::string name; std::getline(stream, name, '\0');) names.push_back(name);
  return names;
}

TEST(TrackedFiles, AreSmallAndSoAreModels) {
  const std::vector<std::string> names = tracked_files();
  if (names.empty()) GTEST_SKIP() << "not a clone of git";
  EXPECT_GT(names.size(), 500u);
  static const std::regex weights(R"(models/[^/]+/model\.safetensors)");
  for (const std::string& name : names) {
    const fs::path path = fs::path(TESSERA_SOURCE_DIR) / name;
    if (!fs::is_regular_file(path)) continue;  // removed, but not committed yet; a link
    const uint64_t most = std::regex_match(name, weights) ? 27 * kMebibyte : kMebibyte;
    EXPECT_LE(fs::file_size(path), most) << name << ": every version stays in a clone for ever";
  }
}

}  // namespace
