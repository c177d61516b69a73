// Modules include downwards only (docs/architecture.md): none includes a header of one above it.

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

const std::map<std::string, std::set<std::string>> kMayInclude{
    {"kernels", {}},
    {"base", {}},
    {"tensor", {"base", "kernels"}},
    {"ranks", {"tensor", "base", "kernels"}},
    {"config", {"base"}},
    {"files", {"config", "tensor", "base", "kernels"}},
    {"process", {"files", "config", "tensor", "base", "kernels"}},
    {"codebook", {"process", "files", "config", "tensor", "base", "kernels"}},
    {"symbols", {"codebook", "process", "files", "config", "tensor", "base", "kernels"}},
    {"nn", {"symbols", "codebook", "process", "files", "config", "tensor", "base", "kernels"}},
    {"text", {"files", "config", "tensor", "base", "kernels"}},
    {"corpus", {"text", "files", "config", "tensor", "base", "kernels"}},
    {"image", {"files", "config", "tensor", "base", "kernels"}},
    {"text_metric", {"files", "config", "tensor", "base", "kernels"}},
    {"image_metric", {"files", "config", "tensor", "base", "kernels"}},
    {"seq2seq",
     {"corpus", "text", "text_metric", "nn", "symbols", "codebook", "process", "files", "config",
      "tensor", "base", "kernels"}},
    {"image_model",
     {"nn", "symbols", "codebook", "process", "files", "config", "tensor", "base", "kernels"}},
    {"engine",
     {"seq2seq", "image_model", "corpus", "text", "text_metric", "nn", "symbols", "codebook",
      "process", "files", "config", "tensor", "base", "kernels"}},
    {"evaluation",
     {"engine", "seq2seq", "image_model", "image", "image_metric", "corpus", "text", "text_metric",
      "nn", "symbols", "codebook", "process", "files", "config", "tensor", "base", "kernels"}},
    {"train",
     {"ranks", "nn", "symbols", "codebook", "process", "files", "config", "tensor", "base",
      "kernels"}},
    {"task",
     {"evaluation", "train", "ranks", "seq2seq", "image_model", "image", "image_metric", "corpus",
      "text", "text_metric", "nn", "symbols", "codebook", "process", "files", "config", "tensor",
      "base", "kernels"}},
    {"drawing", {"files", "config", "tensor", "base", "kernels"}},
    {"report",
     {"drawing", "task", "train", "ranks", "seq2seq", "image", "corpus", "text", "text_metric",
      "nn", "symbols", "codebook", "process", "files", "config", "tensor", "base", "kernels"}},
    {"experiment",
     {"report", "drawing", "task", "train", "ranks", "seq2seq", "image", "corpus", "text",
      "text_metric", "nn", "symbols", "codebook", "process", "files", "config", "tensor", "base",
      "kernels"}},
    {"serve",
     {"drawing", "engine", "image", "seq2seq", "image_model", "corpus", "text", "text_metric", "nn",
      "symbols", "codebook", "process", "files", "config", "tensor", "base", "kernels"}},
    {"flow",
     {"drawing", "nn", "codebook", "process", "files", "config", "tensor", "base", "kernels"}},
};

struct Include {
  fs::path file;
  std::string text;  // the part between the quotes or brackets
};

std::vector<Include> includes_below(const fs::path& folder) {
  static const std::regex pattern(R"(^\s*#\s*include\s*[<"]([^>"]+)[>"])");
  std::vector<Include> found;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    const std::string ending = entry.path().extension();
    if (ending != ".h" && ending != ".cpp" && ending != ".cu" && ending != ".cuh") continue;
    std::ifstream file(entry.path());
    for (std::string line; std::getline(file, line);) {
      std::smatch match;
      if (std::regex_search(line, match, pattern)) found.push_back({entry.path(), match[1]});
    }
  }
  return found;
}

// The module a header of ours belongs to: "process" for "process/listing.h" and for
// "tessera/process/clock.h".
std::string module_of(std::string include) {
  if (include.starts_with("tessera/")) include = include.substr(8);
  const auto slash = include.find('/');
  if (slash == std::string::npos) return "";
  const std::string name = include.substr(0, slash);
  return kMayInclude.contains(name) ? name : "";
}

const fs::path kRoot = TESSERA_SOURCE_DIR;

std::vector<fs::path> folders_of(const std::string& name) {
  std::vector<fs::path> folders;
  for (const char* parent : {"src", "tools", "include/tessera"})
    if (fs::exists(kRoot / parent / name)) folders.push_back(kRoot / parent / name);
  return folders;
}

TEST(Tree, KnowsEveryModule) {
  for (const char* folder : {"src", "tools"})
    for (const auto& entry : fs::directory_iterator(kRoot / folder))
      if (entry.is_directory()) {
        EXPECT_TRUE(kMayInclude.contains(entry.path().filename())) << entry.path();
      }
}

TEST(Tree, IncludesOnlyDownwards) {
  size_t seen = 0;
  for (const auto& [name, allowed] : kMayInclude) {
    for (const fs::path& folder : folders_of(name)) {
      for (const auto& include : includes_below(folder)) {
        const std::string other = module_of(include.text);
        if (other.empty()) continue;
        ++seen;
        EXPECT_TRUE(other == name || allowed.contains(other))
            << include.file << " includes " << include.text << ": '" << name << "' must not know '"
            << other << "'";
      }
    }
  }
  EXPECT_GT(seen, 50u);
}

// A header and its source count as one.
TEST(Tree, ModulesStaySmall) {
  constexpr size_t most = 22;
  for (const auto& [name, allowed] : kMayInclude) {
    if (name == "kernels") continue;  // a file for every device
    std::set<std::string> nouns;
    for (const fs::path& folder : folders_of(name))
      for (const auto& entry : fs::directory_iterator(folder)) nouns.insert(entry.path().stem());
    EXPECT_LE(nouns.size(), most) << name;
    EXPECT_GT(nouns.size(), 0u) << name;
  }
}

TEST(Tree, PublicHeadersStayLight) {
  const std::set<std::string> allowed{"ATen/core/Tensor.h"};
  for (const auto& include : includes_below(kRoot / "include")) {
    const bool heavy = include.text.starts_with("ATen/") || include.text.starts_with("torch/") ||
                       include.text.starts_with("c10/") || include.text.starts_with("fmt/") ||
                       include.text.starts_with("nlohmann/");
    EXPECT_TRUE(!heavy || allowed.contains(include.text))
        << include.file << " includes " << include.text;
    EXPECT_TRUE(include.text.starts_with("tessera/") ||
                include.text.find('/') == std::string::npos || allowed.contains(include.text))
        << include.file << " includes " << include.text << ", which is not installed";
  }
}

// LibTorch 2.11 exports a std::filesystem::remove_all that crashes: files/files.h has remove_tree.
TEST(Tree, RemovesFoldersWithoutTheStandardLibrary) {
  for (const char* folder : {"src", "tools", "apps", "tests/base", "tests/config", "tests/files",
                             "tests/apps", "tests/support"}) {
    for (const auto& entry : fs::recursive_directory_iterator(kRoot / folder)) {
      if (entry.path().extension() != ".cpp" && entry.path().extension() != ".h") continue;
      std::ifstream file(entry.path());
      for (std::string line; std::getline(file, line);)
        EXPECT_EQ(line.find("remove_all("), std::string::npos) << entry.path();
    }
  }
}

// Signals, the environment, the terminal and the standard streams belong to the program.
TEST(Tree, TheLibraryIsAGuestInItsProcess) {
  static const std::regex forbidden(
      R"(\b(setenv|putenv|sigaction|signal|_exit|_Exit|abort|isatty|chdir|umask)\s*\(|)"
      R"(\bset_num_threads\s*\(|\bstd::exit\s*\(|)"
      R"(\bstd::c(out|err)\b|\bstd(out|err)\b)");
  for (const auto& entry : fs::recursive_directory_iterator(kRoot / "src")) {
    if (entry.path().extension() != ".cpp" && entry.path().extension() != ".h") continue;
    std::ifstream file(entry.path());
    for (std::string line; std::getline(file, line);) {
      const std::string code = line.substr(0, line.find("//"));
      EXPECT_FALSE(std::regex_search(code, forbidden)) << entry.path() << ": " << line;
    }
  }
}

TEST(Tree, CudaFilesKnowNoLibTorch) {
  for (const auto& include : includes_below(kRoot / "src/kernels/cuda"))
    EXPECT_FALSE(include.text.starts_with("ATen/") || include.text.starts_with("torch/") ||
                 include.text.starts_with("c10/"))
        << include.file << " includes " << include.text;
}

}  // namespace
