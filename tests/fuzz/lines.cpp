#include "corpus/pair_reader.h"
#include "fuzz/reading.h"
#include "fuzz/targets.h"
#include "text/line_reader.h"
#include "text/utf8.h"

namespace tessera::fuzz {

void fuzz_lines(std::string_view input) {
  for (const char* name : {"lines.txt", "lines.gz", "lines.xz"}) {
    const auto path = put(name, input);
    for (const bool replace : {false, true}) {
      attempt([&] {
        text::LineReader reader(path, {.replace_invalid = replace});
        for (std::string_view line; reader.next(line);)
          expect(text::find_invalid_utf8(line) == std::string_view::npos &&
                     line.find_first_of(std::string_view("\0\n", 2)) == std::string_view::npos,
                 "a line is UTF-8 without NUL and line breaks");
      });
    }
    attempt([&] {
      corpus::PairReader reader({path, {}});
      for (std::string_view source, target; reader.next(source, target);) continue;
    });
  }
  attempt([&] {
    corpus::PairReader reader({work_folder() / "lines.txt", work_folder() / "lines.gz"});
    for (std::string_view source, target; reader.next(source, target);) continue;
  });
}

}  // namespace tessera::fuzz
