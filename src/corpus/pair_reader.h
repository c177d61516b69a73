#pragma once

#include "text/line_reader.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>

namespace tessera::corpus {

// Where the pairs of a split come from: two files whose lines belong together, or one of lines
// "source TAB target" (target is empty then). Both may be compressed.
struct PairFiles {
  std::filesystem::path source, target;
};

// The pairs of lines, one after the other.
class PairReader {
 public:
  explicit PairReader(const PairFiles& files, const text::LineReaderOptions& options = {});

  // False after the last pair; the views are valid until the next call. Throws Error if one file
  // has more lines than the other (it names both numbers), or if a line of a single file does not
  // have two columns.
  bool next(std::string_view& source, std::string_view& target);

  int64_t pairs() const { return source_.line_number(); }  // so far

 private:
  text::LineReader source_;
  std::optional<text::LineReader> target_;
};

}  // namespace tessera::corpus
