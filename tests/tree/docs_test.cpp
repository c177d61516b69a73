// The Markdown files that people read: README.md, CONTRIBUTING.md, CHANGELOG.md and docs/.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

struct Line {
  fs::path file;
  int number;
  std::string text;
};

std::ostream& operator<<(std::ostream& out, const Line& line) {
  return out << line.file.string() << ':' << line.number << ": " << line.text;
}

// Lines outside of code blocks.
std::vector<Line> lines_of_prose() {
  const fs::path root = TESSERA_SOURCE_DIR;
  std::vector<fs::path> files{root / "README.md", root / "CONTRIBUTING.md", root / "CHANGELOG.md"};
  for (const auto& entry : fs::directory_iterator(root / "docs"))
    if (entry.path().extension() == ".md") files.push_back(entry.path());
  std::vector<Line> lines;
  for (const fs::path& path : files) {
    std::ifstream file(path);
    bool code = false;
    int number = 0;
    for (std::string text; std::getline(file, text);) {
      ++number;
      if (text.starts_with("```"))
        code = !code;
      else if (!code)
        lines.push_back({path, number, text});
    }
  }
  return lines;
}

// The width of UTF-8 text: counts the bytes that begin a character.
auto columns(const std::string& text) {
  return std::count_if(text.begin(), text.end(), [](char byte) { return (byte & 0xC0) != 0x80; });
}

TEST(Docs, WrapProseAt100Columns) {
  const auto lines = lines_of_prose();
  ASSERT_GT(lines.size(), 500u);
  for (const Line& line : lines) {
    if (line.text.starts_with('|') || line.text.starts_with('!') || line.text.starts_with("    "))
      continue;  // tables, pictures, formulas
    EXPECT_LE(columns(line.text), 100) << line;
  }
}

TEST(Docs, LinkToFilesThatExist) {
  static const std::regex link(R"(\]\(([^)#]+)[^)]*\))");
  int links = 0;
  for (const Line& line : lines_of_prose())
    for (std::sregex_iterator found(line.text.begin(), line.text.end(), link), end; found != end;
         ++found) {
      const std::string target = (*found)[1];
      if (target.find("://") != std::string::npos) continue;
      ++links;
      EXPECT_TRUE(fs::exists(line.file.parent_path() / target)) << line;
    }
  EXPECT_GT(links, 20);
}

// Names like `process/family.cpp` and `src/evaluation` are relative to the root or to a folder of
// sources. The changelog is left out, because it also names files that are gone.
TEST(Docs, NameSourcesThatExist) {
  const fs::path root = TESSERA_SOURCE_DIR;
  static const std::regex source(
      R"(`((?:src|tools|apps)/[a-z0-9_/.]+|[a-z0-9_/]+/[a-z0-9_]+\.(?:h|cpp|cu))`)");
  int sources = 0;
  for (const Line& line : lines_of_prose()) {
    if (line.file.filename() == "CHANGELOG.md") continue;
    for (std::sregex_iterator found(line.text.begin(), line.text.end(), source), end; found != end;
         ++found) {
      const std::string name = (*found)[1];
      ++sources;
      const std::vector<fs::path> places{root, root / "src", root / "tools", root / "include"};
      EXPECT_TRUE(std::any_of(places.begin(), places.end(),
                              [&](const fs::path& place) { return fs::exists(place / name); }))
          << name << "\n"
          << line;
    }
  }
  EXPECT_GT(sources, 30);
}

}  // namespace
