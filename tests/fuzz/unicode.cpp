#include "base/visible_text.h"
#include "fuzz/reading.h"
#include "fuzz/targets.h"
#include "text/encoding_guess.h"
#include "text/pretokenizer.h"
#include "text/utf8.h"

namespace tessera::fuzz {

void fuzz_unicode(std::string_view input) {
  text::guess_encoding(input);
  text::detokenize(input);
  text::pretokenize(input);
  const std::string repaired = text::replace_invalid_utf8(input);
  const size_t invalid = text::find_invalid_utf8(input);
  expect(text::find_invalid_utf8(repaired) == std::string_view::npos, "what was mended is UTF-8");
  expect(invalid != std::string_view::npos || repaired == input, "what is UTF-8 stays as it is");
  expect(text::encode_utf8(text::decode_utf8(input)) == repaired, "decoding mends");
  expect(text::detokenize(text::pretokenize_line(repaired)) == text::normalise_blanks(repaired),
         "words are put together as they were");
  visible(input);
  said() += invalid == std::string_view::npos ? "UTF-8\n" : "not UTF-8\n";
}

}  // namespace tessera::fuzz
