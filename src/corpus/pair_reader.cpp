#include "corpus/pair_reader.h"

#include "base/numerals.h"
#include "base/require.h"

#include <algorithm>

namespace tessera::corpus {
namespace {

int64_t count_lines(text::LineReader& reader) {
  for (std::string_view line; reader.next(line);) continue;
  return reader.line_number();
}

[[noreturn]] void throw_uneven(text::LineReader& source, text::LineReader& target) {
  const int64_t source_lines = count_lines(source), target_lines = count_lines(target);
  throw Error(fmt::format("'{}' has {}, but '{}' {}", source.name(), counted(source_lines, "line"),
                          target.name(), target_lines),
              "line by line they have to belong together");
}

}  // namespace

PairReader::PairReader(const PairFiles& files, const text::LineReaderOptions& options)
    : source_(files.source, options) {
  if (!files.target.empty()) target_.emplace(files.target, options);
}

bool PairReader::next(std::string_view& source, std::string_view& target) {
  const bool found = source_.next(source);
  if (target_) {
    if (target_->next(target) != found) throw_uneven(source_, *target_);
    return found;
  }
  if (!found) return false;
  const size_t tab = source.find('\t');
  const int64_t columns = 1 + std::count(source.begin(), source.end(), '\t');
  if (columns != 2)
    throw Error(fmt::format("{}: {} column{}, should be 2: source TAB target", source_.where(),
                            columns, columns == 1 ? "" : "s"),
                columns == 1 ? "for two files name both" : "cut -f1,2 keeps the first two");
  target = source.substr(tab + 1);
  source = source.substr(0, tab);
  return true;
}

}  // namespace tessera::corpus
