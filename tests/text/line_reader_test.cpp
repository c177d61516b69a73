#include "text/line_reader.h"

#include "files/files.h"
#include "support/temporary_folder.h"

#include <tessera/base/error.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace tessera::text {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

class LineReaderTest : public testing::Test {
 protected:
  std::filesystem::path write(const std::string& name, const std::string& bytes) const {
    std::ofstream(folder_ / name, std::ios::binary) << bytes;
    return folder_ / name;
  }

  std::vector<std::string> lines(const std::filesystem::path& path,
                                 const LineReaderOptions& options = {}) const {
    LineReader reader(path, options);
    std::vector<std::string> all;
    for (std::string_view line; reader.next(line);) all.emplace_back(line);
    return all;
  }

  std::string error(const std::filesystem::path& path) const {
    try {
      lines(path);
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  }

  // Compresses with a program of the system. Returns an empty path if there is none.
  std::filesystem::path compressed(const std::string& program, const std::string& text) const {
    write("plain", text);
    const std::string name = program == "xz" ? "text.xz" : "text.gz";
    const std::string command = program + " -1c " + (folder_ / "plain").string() + " > " +
                                (folder_ / name).string() + " 2>/dev/null";
    return std::system(command.c_str()) == 0 ? folder_ / name : std::filesystem::path();
  }

  test::TemporaryFolder folder_;
};

TEST_F(LineReaderTest, LeavesAByteOrderMarkOut) {
  EXPECT_THAT(lines(write("a", "\xEF\xBB\xBFone\n\xEF\xBB\xBFtwo\n")),
              ElementsAre("one", "\xEF\xBB\xBFtwo"));
}

TEST_F(LineReaderTest, GivesLinesWithoutTheirEnds) {
  EXPECT_THAT(lines(write("a", "one\ntwo\r\n\n  four \n")),
              ElementsAre("one", "two", "", "  four "));
  EXPECT_THAT(lines(write("a", "")), ElementsAre());
  EXPECT_THAT(lines(write("a", "\n")), ElementsAre(""));
  EXPECT_THAT(lines(write("a", "x\r\n"), {.keep_carriage_return = true}), ElementsAre("x\r"));
}

TEST_F(LineReaderTest, TakesALastLineWithoutNewline) {
  LineReader reader(write("a", "one\ntwo"));
  std::string_view line;
  ASSERT_TRUE(reader.next(line));
  EXPECT_TRUE(reader.had_newline());
  ASSERT_TRUE(reader.next(line));
  EXPECT_EQ(line, "two");
  EXPECT_FALSE(reader.had_newline());
  EXPECT_EQ(reader.line_number(), 2);
  EXPECT_FALSE(reader.next(line));
  EXPECT_FALSE(reader.next(line));
}

TEST_F(LineReaderTest, ReadsLinesLongerThanItsBuffer) {
  const std::string longest(3'000'001, 'x');
  EXPECT_THAT(lines(write("a", "a\n" + longest + "\nb")), ElementsAre("a", longest, "b"));
}

TEST_F(LineReaderTest, RefusesWhatIsNoTextInLines) {
  const auto path = write("a", "a\n");
  std::filesystem::resize_file(path, uint64_t{1} << 36);  // a hole: 64 GiB of zeros
  EXPECT_THAT(error(path), HasSubstr("a:2: a line of more than 64 MiB"));
}

TEST_F(LineReaderTest, RefusesAFileThatUnpacksWithoutEnd) {
  for (const char* program : {"gzip", "xz"}) {
    const auto path = compressed(program, std::string(size_t{1} << 26, '\n'));
    if (path.empty()) GTEST_SKIP() << "no " << program;
    EXPECT_THAT(error(path), HasSubstr("unpacks to more than 200 times its size")) << program;
  }
}

TEST_F(LineReaderTest, NamesFileAndLineOfInvalidText) {
  EXPECT_THAT(error(write("bad.txt", "fine\nnot \xFF fine\n")),
              HasSubstr("bad.txt:2: invalid UTF-8 at byte 5"));
  EXPECT_THAT(error(write("nul.txt", std::string("a\n\nb\0c\n", 7))),
              HasSubstr("nul.txt:3: NUL byte at byte 2"));
}

TEST_F(LineReaderTest, NamesAnotherEncodingAndHowToConvertIt) {
  const std::string wide("\xFF\xFEh\0i\0\n\0", 8);
  const auto hint = [&](const std::string& name, const std::string& bytes,
                        const LineReaderOptions& options = {}) {
    try {
      lines(write(name, bytes), options);
    } catch (const Error& error) {
      return error.hint();
    }
    return std::string("no error");
  };
  EXPECT_THAT(hint("wide", wide), AllOf(HasSubstr("iconv -f UTF-16 -t UTF-8 "), HasSubstr("wide"),
                                        Not(HasSubstr("--replace-invalid"))));
  EXPECT_THAT(hint("wide", wide, {.replace_invalid = true}), HasSubstr("iconv -f UTF-16"));
  EXPECT_THAT(hint("latin", "gr\xFCn\n"),
              AllOf(HasSubstr("iconv -f ISO-8859-1 -t UTF-8 "), HasSubstr("--replace-invalid")));
  EXPECT_THAT(hint("damaged", "a \xFF b\n"),
              AllOf(HasSubstr("--replace-invalid"), Not(HasSubstr("iconv"))));
}

TEST_F(LineReaderTest, ReplacesInvalidTextIfAsked) {
  EXPECT_THAT(lines(write("a", std::string("a\xFF\nb\0c\nd", 8)), {.replace_invalid = true}),
              ElementsAre("a\uFFFD", "b\uFFFDc", "d"));
}

TEST_F(LineReaderTest, FailsForWhatCannotBeRead) {
  EXPECT_THAT(error(folder_ / "nowhere.txt"), HasSubstr("nowhere.txt"));
  EXPECT_THAT(error(folder_.path()), HasSubstr(folder_.path().string()));
}

TEST_F(LineReaderTest, ReadsCompressedFiles) {
  std::string text;
  std::vector<std::string> expected;
  for (int k = 0; k < 20'000; ++k) {
    expected.push_back("line number " + std::to_string(k * 7919 % 100'003));
    text += expected.back() + "\n";
  }
  for (const char* program : {"gzip", "xz"}) {
    const auto path = compressed(program, text);
    if (path.empty()) GTEST_SKIP() << "no " << program;
    EXPECT_EQ(lines(path), expected) << program;
    // Two compressed files, one after the other, are read as one.
    std::string bytes = tessera::read_file(path);
    const auto twice = write("twice" + path.extension().string(), bytes + bytes);
    EXPECT_EQ(lines(twice).size(), 2 * expected.size()) << program;
    // Tapes and disks may pad files with zeros.
    const auto filled = write("filled" + path.extension().string(), bytes + std::string(512, '\0'));
    EXPECT_EQ(lines(filled), expected) << program;
  }
}

TEST_F(LineReaderTest, FailsForDamagedCompressedFiles) {
  std::string text;
  for (int k = 0; k < 20'000; ++k) text += std::to_string(k * 7919 % 100'003) + "\n";
  for (const char* program : {"gzip", "xz"}) {
    const auto path = compressed(program, text);
    if (path.empty()) GTEST_SKIP() << "no " << program;
    const std::string bytes = tessera::read_file(path), ending = path.extension().string();
    EXPECT_THAT(error(write("cut" + ending, bytes.substr(0, bytes.size() / 2))),
                HasSubstr("ends too early"));
    EXPECT_THAT(error(write("cut" + ending, bytes.substr(0, bytes.size() - 3))),
                HasSubstr("ends too early"));
    std::string damaged = bytes;
    for (size_t k = bytes.size() / 2; k < bytes.size() / 2 + 20; ++k) damaged[k] ^= 0x5A;
    EXPECT_THAT(error(write("damaged" + ending, damaged)), HasSubstr("is damaged"));
    EXPECT_THAT(error(write("plain" + ending, "just text\n")), HasSubstr("is damaged"));
    EXPECT_THAT(error(write("empty" + ending, "")), HasSubstr("is damaged"));
  }
}

}  // namespace
}  // namespace tessera::text
