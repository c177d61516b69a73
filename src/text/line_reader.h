#pragma once

#include "files/byte_source.h"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::text {

struct LineReaderOptions {
  bool replace_invalid = false;       // U+FFFD for invalid UTF-8 and NUL bytes, instead of an error
  bool keep_carriage_return = false;  // of a line that ends in "\r\n"
};

// The lines of a text file, one after the other; the file may be larger than memory. Files whose
// names end in .gz or .xz are decompressed, "-" is standard input, a byte-order mark is left out.
// Throws Error, with file and line, if something cannot be read or is not UTF-8.
//   LineReader reader("train.de");
//   std::string_view line;
//   while (reader.next(line)) ...
class LineReader {
 public:
  explicit LineReader(const std::filesystem::path& path, const LineReaderOptions& options = {});
  ~LineReader();
  LineReader(LineReader&&) noexcept;
  LineReader& operator=(LineReader&&) noexcept;

  // The next line, without its end ("\n" or "\r\n"); false after the last one. A last line without
  // "\n" is a line, an empty file has none. `line` is valid until the next call.
  bool next(std::string_view& line);

  int64_t line_number() const { return number_; }    // of the line last returned, from 1
  bool had_newline() const { return had_newline_; }  // false for a last line without one
  const std::string& name() const { return name_; }  // for messages
  std::string where() const;                         // "train.de:12"

 private:
  bool take_line(std::string_view& line);
  bool refill();
  std::string_view checked(std::string_view line);
  std::string cure(std::string_view encoding) const;  // advice for text in another encoding

  std::string name_;
  LineReaderOptions options_;
  std::unique_ptr<ByteSource> source_;
  std::vector<char> buffer_;
  size_t begin_ = 0, end_ = 0;  // bytes that were read but not returned yet
  int64_t number_ = 0;
  bool had_newline_ = true;
  std::string repaired_;
};

}  // namespace tessera::text
