#pragma once

#include "corpus/corpus_writer.h"
#include "seq2seq/tiny_model.h"
#include "task/text_options.h"

#include <filesystem>

namespace tessera::test {

// A network that learns dates badly and fast.
inline task::TextOptions tiny_text() {
  task::TextOptions options;
  options.data.batches.tokens = 256;
  options.model.network = {.latent = 8,
                           .transformer = {.width = 16, .feedforward = 16, .heads = 2, .layers = 1},
                           .positions = 64};
  options.generate.noises = 1;
  options.generate.lengths = 1;
  options.generate.sampler.steps = 2;
  options.validate_sentences = 5;
  return options;
}

// Writes a corpus of letters with 40 pairs to train on.
//   valid  whether there are pairs to validate on
inline void write_letters(const std::filesystem::path& folder, bool valid) {
  const text::Tokenizer tokenizer = tiny_tokenizer();
  corpus::CorpusWriter writer(folder, tokenizer);
  for (const char* split : {"train", "valid"}) {
    if (!valid && std::string(split) == "valid") continue;
    writer.begin_split(split);
    for (int k = 0; k < 40; ++k) {
      const std::string source = std::string(1, static_cast<char>('a' + k % 26)) + " b c";
      writer.add(source, "d e", tokenizer.encode(source), tokenizer.encode("d e"));
    }
  }
  writer.commit({});
}

}  // namespace tessera::test
