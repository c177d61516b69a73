#include "text/tokenizer.h"

#include "fuzz/reading.h"
#include "fuzz/targets.h"

namespace tessera::fuzz {

void fuzz_tokenizer(std::string_view input) {
  const Parts parts = parts_of(input);
  put_parts(parts, {"tokenizer.json", "dict.txt", "codes.bpe"});
  attempt([&] {
    const auto tokenizer = text::Tokenizer::load(work_folder());
    const std::vector<text::Id> ids = tokenizer.encode(part(parts, "line"));
    for (const text::Id id : ids)
      expect(id >= text::Dictionary::kUnk && id < tokenizer.dictionary().size(),
             "text becomes symbols of the dictionary, and none that is special but <unk>");
    tokenizer.decode(ids);
    tokenizer.pieces(ids);
    std::vector<text::Id> all;
    for (text::Id id = text::Dictionary::kUnk; id < tokenizer.dictionary().size(); ++id)
      all.push_back(id);
    tokenizer.decode(all);
  });
}

}  // namespace tessera::fuzz
