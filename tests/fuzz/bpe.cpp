#include "text/bpe.h"
#include "fuzz/reading.h"
#include "fuzz/targets.h"

#include <vector>

namespace tessera::fuzz {

void fuzz_bpe(std::string_view input) {
  const Parts parts = parts_of(input);
  const std::string_view line = part(parts, "line");
  text::BpeOptions options;
  attempt([&] {
    options.vocabulary = text::load_bpe_vocabulary(put("vocabulary", part(parts, "vocabulary")), 2);
  });
  attempt([&] {
    const auto codes = text::BpeCodes::load(put("codes", part(parts, "codes")));
    const auto again = text::BpeCodes::parse(codes.text(), "codes");
    expect(again.merges == codes.merges && again.version == codes.version,
           "codes that were written are read as they were");
    for (const bool with_vocabulary : {false, true}) {
      const text::Bpe splitter(codes, with_vocabulary ? options : text::BpeOptions{});
      splitter.apply(line);
      const std::string_view word = line.substr(0, line.find_first_of(" \n"));
      std::vector<std::string_view> pieces;
      splitter.split(word, pieces);
      std::string joined;
      for (const std::string_view piece : pieces) joined += piece;
      expect(joined == word, "the pieces of a word are the word");
    }
  });
}

}  // namespace tessera::fuzz
