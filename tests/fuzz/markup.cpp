#include "serve/markup.h"

#include "fuzz/reading.h"
#include "fuzz/targets.h"
#include "text/sentences.h"
#include "text/utf8.h"

namespace tessera::fuzz {

void fuzz_markup(std::string_view input) {
  const std::vector<serve::MarkupPiece> pieces = serve::parse_markup(input);
  std::string whole, written;
  for (const serve::MarkupPiece& piece : pieces) {
    whole += piece.source;
    written += piece.is_text ? serve::html_of(piece.text) : std::string(piece.source);
    const text::SentenceSplit split =
        text::split_sentences(piece.text, {.line_ends = piece.line_ends_count});
    expect(text::join_sentences(split) == text::replace_invalid_utf8(piece.text),
           "sentences are the text");
    said() += piece.is_text ? "text\n" : "markup\n";
  }
  expect(whole == input, "pieces are the whole");
  const std::vector<serve::MarkupPiece> again = serve::parse_markup(written);
  expect(again.size() == pieces.size(), "what was written has as many pieces");
  for (size_t k = 0; k < pieces.size(); ++k)
    expect(again[k].text == pieces[k].text && again[k].is_text == pieces[k].is_text,
           "what was written reads the same");
}

}  // namespace tessera::fuzz
