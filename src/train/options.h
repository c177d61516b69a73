#pragma once

#include "base/config.h"
#include "model/generation_options.h"
#include "model/seq2seq_options.h"
#include "text/batcher.h"
#include "train/checkpoints.h"
#include "train/divergence.h"
#include "train/early_stop.h"
#include "train/learner.h"
#include "train/schedule.h"

#include <filesystem>
#include <set>
#include <string>

namespace tessera::train {

// Where sentences come from.
enum class DataTask {
  none,   // a folder that `tessera prepare` wrote
  dates,  // dates in many spellings, made by the program itself
};

// What says which checkpoint is the best.
enum class ScoreKind {
  bleu,         // of generated validation sentences
  exact_match,  // share of them equal to the reference
  loss,         // of validation, negative
};

struct DataOptions {
  std::filesystem::path dir = {};
  DataTask task = DataTask::none;
  int64_t pairs = 60000;  // of the task
  text::BatcherOptions batches = {};
};

struct RunOptions {
  std::filesystem::path out = {};
  int64_t steps = 100000;
  uint64_t seed = 1;
  std::filesystem::path init = {};   // a run or model folder whose weights to start from
  int64_t log_every = 100;           // updates between two lines of the log
  int64_t save_every = 1000;         // updates between two checkpoints
  int64_t validate_every = 1000;     // updates between two validations; 0: only at the end
  int64_t validate_sentences = 500;  // that are generated; 0: loss only
  ScoreKind score = ScoreKind::bleu;
  bool deterministic = false;  // CUDA: equal runs give equal bits, some operations are slower
};

// All of a training run, as a recipe says it.
struct Recipe {
  DataOptions data = {};
  model::Seq2SeqOptions model = {};
  model::GenerationOptions generate = {};
  RunOptions run = {};
  LearnerOptions learner = {};
  ScheduleOptions schedule = {};
  RetentionOptions retention = {};
  EarlyStopOptions early_stop = {};
  DivergenceOptions divergence = {};
};

void declare(config::Schema& schema, Recipe& recipe);

// Where the corpus of a run lies: data.dir, or beside the run where the program made it itself.
std::filesystem::path corpus_folder(const DataOptions& data, const std::filesystem::path& run);

// Whether a resumed run may have another value than it began with: it has no part in the
// mathematics.
bool may_change_on_resume(const std::string& key, const ScheduleOptions& schedule);

}  // namespace tessera::train

template <>
struct tessera::EnumNames<tessera::train::DataTask> {
  using Task = tessera::train::DataTask;
  static constexpr std::string_view what = "task";
  static constexpr std::array<std::pair<Task, std::string_view>, 2> values{
      {{Task::none, "none"}, {Task::dates, "dates"}}};
};
template <>
struct tessera::EnumNames<tessera::train::ScoreKind> {
  using Kind = tessera::train::ScoreKind;
  static constexpr std::string_view what = "score";
  static constexpr std::array<std::pair<Kind, std::string_view>, 3> values{
      {{Kind::bleu, "bleu"}, {Kind::exact_match, "exact-match"}, {Kind::loss, "loss"}}};
};
