#pragma once

#include "seq2seq/autoregressive.h"
#include "seq2seq/diffusion.h"
#include "seq2seq/model_folder.h"
#include "text/dictionary.h"
#include "text/tokenizer.h"

#include <ATen/ATen.h>

#include <string>
#include <vector>

namespace tessera::test {

// Words "a" to "z" and the specials.
inline text::Dictionary tiny_dictionary() {
  text::Dictionary dictionary;
  for (char letter = 'a'; letter <= 'z'; ++letter) dictionary.add(std::string(1, letter), 100);
  return dictionary;
}

inline text::Tokenizer tiny_tokenizer() {
  return text::Tokenizer::words(tiny_dictionary(), /*raw=*/false);
}

inline seq2seq::Seq2SeqOptions tiny_options() {
  seq2seq::Seq2SeqOptions options;
  options.network.latent = 8;
  options.network.positions = 40;
  options.network.transformer = {.width = 16, .feedforward = 32, .heads = 2, .layers = 1};
  options.process.trajectory.kind = TrajectoryKind::ot;
  options.process.trajectory.horizon = 100;
  options.process.r = 1.0;
  return options;
}

// A model with random weights, the same every time.
inline seq2seq::Diffusion tiny_model(uint64_t seed = 3) {
  return seq2seq::Diffusion(
      tiny_options(), tiny_dictionary().size(),
      {text::Dictionary::kBos, text::Dictionary::kPad, text::Dictionary::kUnk}, at::kCPU,
      nn::Precision::float32, seed);
}

inline seq2seq::Autoregressive tiny_autoregressive(uint64_t seed = 3) {
  seq2seq::Seq2SeqOptions options = tiny_options();
  options.kind = seq2seq::ModelKind::autoregressive;
  return seq2seq::Autoregressive(
      options, tiny_dictionary().size(),
      {text::Dictionary::kBos, text::Dictionary::kPad, text::Dictionary::kUnk}, at::kCPU,
      nn::Precision::float32, seed);
}

// A model of kind "symbols": masks in place of noise on points.
inline std::unique_ptr<seq2seq::Seq2Seq> tiny_symbols(uint64_t seed = 3) {
  seq2seq::Seq2SeqOptions options = tiny_options();
  options.kind = seq2seq::ModelKind::symbols;
  options.self_conditioning = 0;
  return seq2seq::make_seq2seq(
      options, tiny_dictionary().size(),
      {text::Dictionary::kBos, text::Dictionary::kPad, text::Dictionary::kUnk}, at::kCPU,
      nn::Precision::float32, seed);
}

// Ids of letters, with an end symbol.
inline std::vector<text::Id> tiny_source(int64_t length, text::Id first) {
  std::vector<text::Id> ids;
  for (int64_t k = 0; k + 1 < length; ++k)
    ids.push_back(4 + static_cast<text::Id>((first * 5 + k * k + 3 * k) % 26));
  ids.push_back(text::Dictionary::kEos);
  return ids;
}

// Two sentences, padded.
inline seq2seq::Seq2SeqBatch tiny_batch() {
  constexpr int64_t p = text::Dictionary::kPad, e = text::Dictionary::kEos;
  const std::vector<int64_t> source{4, 5, 6, e, 7, 8, e, p}, target{9, 10, e, p, 11, 9, 10, e};
  return {at::tensor(source).view({2, 4}), at::tensor(target).view({2, 4})};
}

inline seq2seq::GenerationOptions tiny_generation() {
  seq2seq::GenerationOptions options;
  options.sampler.steps = 4;
  options.lengths = 1;
  options.noises = 3;
  return options;
}

// Writes a model as a model folder.
inline void write_tiny_model(const std::filesystem::path& folder,
                             const seq2seq::Seq2Seq& made = tiny_model()) {
  seq2seq::write_model_folder(folder, made, made.parameters().values(), tiny_tokenizer(),
                              tiny_generation(), {.title = "A tiny model of random weights"});
}

}  // namespace tessera::test
