#pragma once

#include "config/config.h"
#include "corpus/batcher.h"
#include "seq2seq/generation_options.h"
#include "seq2seq/seq2seq_options.h"

#include <filesystem>

namespace tessera::task {

// Where sentences come from.
enum class TextSource {
  none,   // a folder that `tessera prepare` wrote
  dates,  // dates in many spellings, made by the program itself
};

// The score that selects the best checkpoint.
enum class TextScore {
  bleu,         // of generated validation sentences
  exact_match,  // share of them equal to the reference
  loss,         // negative validation loss
};

struct TextData {
  std::filesystem::path dir = {};
  TextSource source = TextSource::none;
  int64_t pairs = 60000;  // of a corpus the program makes itself
  corpus::BatcherOptions batches = {};

  // The folder with the corpus of a run: dir, or a folder in the run if the program made the
  // corpus.
  std::filesystem::path folder(const std::filesystem::path& run) const;
};

// A run that learns to turn sentences into sentences.
struct TextOptions {
  TextData data = {};
  seq2seq::Seq2SeqOptions model = {};
  seq2seq::GenerationOptions generate = {};
  int64_t validate_sentences = 500;  // sentences to generate; 0: loss only
  TextScore score = TextScore::bleu;
};

void declare_data(config::Schema& schema, TextData& data);
void declare_validation(config::Schema& schema, TextOptions& options);

}  // namespace tessera::task

template <>
struct tessera::EnumNames<tessera::task::TextSource> {
  using Source = tessera::task::TextSource;
  static constexpr std::string_view what = "task";
  static constexpr std::array<std::pair<Source, std::string_view>, 2> values{
      {{Source::none, "none"}, {Source::dates, "dates"}}};
};
template <>
struct tessera::EnumNames<tessera::task::TextScore> {
  using Score = tessera::task::TextScore;
  static constexpr std::string_view what = "score";
  static constexpr std::array<std::pair<Score, std::string_view>, 3> values{
      {{Score::bleu, "bleu"}, {Score::exact_match, "exact-match"}, {Score::loss, "loss"}}};
};
