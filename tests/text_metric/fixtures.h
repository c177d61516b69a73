#pragma once

#include "files/files.h"

#include <filesystem>
#include <string>
#include <vector>

// The sentences of tests/text_metric/fixtures, twenty per file. Golden values for them come from
//   read = lambda name: open(name, encoding="utf8", newline="\n").read().split("\n")[:-1]
// and the calls given beside them, of sacreBLEU 2.6.0 and rouge_score 0.1.2.
namespace tessera::test {

constexpr double kExact = 1e-9;  // of those values

inline std::vector<std::string> fixture(const std::string& name) {
  const std::string text = read_file(std::filesystem::path(TESSERA_FIXTURES) / name);
  std::vector<std::string> lines;
  for (size_t begin = 0, end; begin < text.size(); begin = end + 1) {
    end = text.find('\n', begin);
    lines.push_back(text.substr(begin, end - begin));
  }
  return lines;
}

}  // namespace tessera::test
