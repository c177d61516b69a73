#include "corpus/corpus.h"
#include "fuzz/made_manifest.h"
#include "fuzz/reading.h"
#include "fuzz/targets.h"

namespace tessera::fuzz {
namespace {

void read_all(const corpus::Split& split) {
  for (int64_t k = 0; k < split.size(); ++k) {
    split.source(k);
    split.target(k);
  }
  split.source_lines();
  split.target_lines();
}

}  // namespace

void fuzz_corpus(std::string_view input) {
  const Parts parts = parts_of(input);
  put_parts(parts, {"tokenizer.json", "dict.txt", "codes.bpe", "train.tgt.counts", "train.src.ids",
                    "train.tgt.ids", "train.src.offsets", "train.tgt.offsets", "valid.src.ids",
                    "valid.tgt.ids", "valid.src.offsets", "valid.tgt.offsets", "valid.src.txt",
                    "valid.tgt.txt"});
  put_manifest<corpus::Manifest>(part(parts, "manifest.json"), [](const Json& json, auto& made) {
    made.symbols = number_in(json, "symbols");
    for (const auto& [name, counts] : members_of(json, "splits"))
      made.splits[name].kept = number_in(counts, "kept");
  });
  attempt([&] {
    const auto opened = corpus::Corpus::open(work_folder());
    for (const char* name : {"train", "valid"})
      if (opened.has(name)) attempt([&] { read_all(opened.split(name)); });
  });
}

}  // namespace tessera::fuzz
