#include "train/trainer.h"

#include "base/device.h"
#include "base/files.h"
#include "base/log.h"
#include "base/progress.h"
#include "base/require.h"
#include "model/model_folder.h"

#include <tessera/base/value_checks.h>

#include <ATen/Context.h>
#include <c10/util/Exception.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <chrono>
#include <cstdlib>

namespace tessera::train {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kTrainingFile = "training.safetensors";
constexpr const char* kStateFile = "state.json";
constexpr int kStateFormat = 1;

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// LibTorch's switches, process-wide. Products of float32 numbers on CUDA are those of codes with
// estimates: TF32 is enough for a loss, and the boundary has kernels of its own.
void set_up_device(at::Device device, bool deterministic) {
  if (!device.is_cuda()) return;
  at::Context& context = at::globalContext();
  context.setAllowTF32CuBLAS(true);
  set_value_checks(ValueChecks::off);  // ids come from a checked corpus, losses are watched
  context.setSDPUseCuDNN(false);
  context.setBenchmarkCuDNN(false);
  // cuBLAS reads this when its first handle is made.
  if (deterministic) setenv("CUBLAS_WORKSPACE_CONFIG", ":4096:8", /*overwrite=*/0);
  context.setDeterministicAlgorithms(deterministic, /*warn_only=*/false);
  context.setDeterministicFillUninitializedMemory(false);
}

std::unique_ptr<model::Seq2Seq> new_model(const Recipe& recipe, const text::Corpus& corpus,
                                          at::Device device) {
  const auto precision = device.is_cuda() ? nn::Precision::bfloat16 : nn::Precision::float32;
  return std::make_unique<model::Seq2Seq>(recipe.model, corpus.tokenizer().dictionary().size(),
                                          corpus.unused_in_targets(), device, precision,
                                          recipe.run.seed);
}

// Sentences the model has no positions for are left out, whatever the recipe says.
text::BatcherOptions batches_of(const Recipe& recipe) {
  text::BatcherOptions options = recipe.data.batches;
  options.max_length = std::min(options.max_length, recipe.model.network.positions);
  return options;
}

std::string out_of_memory_hint(const Recipe& recipe) {
  return fmt::format(
      "lower data.tokens (now {}) and raise train.accumulate (now {}) by the same factor",
      recipe.data.batches.tokens, recipe.learner.accumulate);
}

model::ModelCard card_of(const Recipe& recipe, const text::Corpus& corpus, int64_t step) {
  return {.title = "A sequence-to-sequence model of tessera",
          .description = "Boundary-conditional diffusion: source sentences to target sentences.",
          .data = fmt::format("a prepared corpus of fingerprint {}", corpus.fingerprint()),
          .facts = {{"updates", fmt::format("{}", step)},
                    {"tokens a batch", fmt::format("{}", recipe.data.batches.tokens)},
                    {"seed", fmt::format("{}", recipe.run.seed)}}};
}

}  // namespace

Trainer::Trainer(const Recipe& recipe, const text::Corpus& corpus, at::Device device)
    : recipe_(recipe),
      corpus_(corpus),
      model_((set_up_device(device, recipe.run.deterministic), new_model(recipe, corpus, device))),
      batcher_(corpus.split("train"), batches_of(recipe), recipe.run.seed),
      learner_(*model_, recipe.learner, recipe.run.seed),
      validator_(*model_, corpus, "valid", batches_of(recipe), recipe.generate,
                 recipe.run.validate_sentences, recipe.run.seed),
      early_stop_(recipe.early_stop),
      divergence_(recipe.divergence) {
  if (!recipe.run.init.empty()) start_from(recipe.run.init);
}

void Trainer::start_from(const std::filesystem::path& init) {
  const std::filesystem::path folder = model::find_model_folder(init);
  const model::LoadedModel given =
      model::load_model_folder(folder, at::kCPU, nn::Precision::float32);
  require(given.tokenizer.dictionary().size() == corpus_.tokenizer().dictionary().size(),
          "the model in '{}' has a dictionary of {} symbols, the corpus one of {}", folder.string(),
          given.tokenizer.dictionary().size(), corpus_.tokenizer().dictionary().size());
  learner_.start_from(safetensors::File(folder / "model.safetensors"));
  log::info("weights from {}", folder.string());
}

void Trainer::update() {
  std::vector<text::Batch> batches;
  for (int64_t i = 0; i < recipe_.learner.accumulate; ++i) {
    batches.push_back(batcher_.batch(position_.epoch, position_.batch));
    if (++position_.batch == batcher_.batches(position_.epoch)) {
      position_.batch = 0;
      ++position_.epoch;
    }
  }
  learner_.update(position_.step, batches,
                  learning_rate(recipe_.schedule, position_.step, recipe_.run.steps));
  ++position_.step;
}

double Trainer::try_updates(int64_t warm_up, int64_t updates) {
  const CudaStream stream(model_->device());
  for (int64_t i = 0; i < warm_up; ++i) update();
  synchronize(model_->device());
  const double begin = now();
  for (int64_t i = 0; i < updates; ++i) update();
  synchronize(model_->device());
  return static_cast<double>(updates) / (now() - begin);
}

void Trainer::run(const RunFolder& folder, const StopSignal& stop) {
  Checkpoints checkpoints(folder.path(), recipe_.retention);
  if (const auto newest = checkpoints.newest()) {
    restore(newest->folder);
    checkpoints.discard_after(position_.step);
    log::info("going on from step {}", position_.step);
  }
  if (position_.step >= recipe_.run.steps) {
    log::info("the run is complete: {} steps", position_.step);
    return;
  }
  MetricsLog metrics(folder.metrics(), position_.step);

  const CudaStream stream(model_->device());
  const RunOptions& options = recipe_.run;
  logged_at_ = now();
  Progress bar("training", options.steps, position_.step);
  const auto every = [&](int64_t interval) {
    return interval > 0 && position_.step % interval == 0;
  };
  std::optional<std::string> end;
  while (position_.step < options.steps && !end) {
    try {
      update();
    } catch (const c10::OutOfMemoryError&) {
      throw Error("the device has not enough memory", out_of_memory_hint(recipe_));
    }
    bar.advance();
    const bool last = position_.step == options.steps;
    const bool measure = every(options.validate_every) || last;
    if (every(options.log_every) || measure || every(options.save_every)) log_updates(metrics);
    std::optional<double> score;
    if (measure) {
      score = validate(metrics);
      end = early_stop_.add(position_.step, *score);
      logged_at_ = now();
    }
    if (every(options.save_every) || last || end || stop.requested()) save(checkpoints, score);
    if (stop.requested() && !last) throw Stopped(stop.signal());
  }
  if (end) log::info("stopped early: {}", *end);
}

void Trainer::log_updates(MetricsLog& log) {
  const Measured measured = learner_.read();
  if (measured.updates == 0) return;
  raise_deferred_errors();
  const double time = now();
  const double rate = static_cast<double>(measured.updates) / (time - logged_at_);
  logged_at_ = time;
  const double rate_now = learning_rate(recipe_.schedule, position_.step - 1, recipe_.run.steps);
  log::info(
      "step {}  epoch {}  loss {:.4f}  mse {:.4f}  ce {:.4f}  length {:.3f}  tau {:.3f}  "
      "norm {:.2f}  lr {:.2e}  {:.1f} updates/s  {:.0f} tokens/s",
      position_.step, position_.epoch, measured.loss, measured.mse, measured.cross_entropy,
      measured.length, measured.tau, measured.gradient_norm, rate_now, rate,
      rate * measured.tokens);
  if (measured.skipped > 0)
    log::warn("{:.0f} updates were left out: their gradient was not finite", measured.skipped);
  log.write(position_.step, Json{{"epoch", position_.epoch},
                                 {"loss", measured.loss},
                                 {"mse", measured.mse},
                                 {"cross_entropy", measured.cross_entropy},
                                 {"length", measured.length},
                                 {"tau", measured.tau},
                                 {"outside", measured.outside},
                                 {"gradient_norm", measured.gradient_norm},
                                 {"learning_rate", rate_now},
                                 {"skipped", measured.skipped},
                                 {"updates_per_second", rate},
                                 {"tokens_per_second", rate * measured.tokens}});
  if (const auto reason = divergence_.add(position_.step, measured.loss))
    throw Error(fmt::format("training diverged: {}", *reason),
                "the last checkpoint is kept; lower train.learning_rate or train.clip, or raise "
                "train.warmup, and start anew or resume");
}

double Trainer::score_of(const Validation& validation) const {
  switch (recipe_.run.score) {
    case ScoreKind::bleu:
      return validation.bleu.value_or(-validation.loss);
    case ScoreKind::exact_match:
      return validation.exact_match.value_or(-validation.loss);
    case ScoreKind::loss:
      break;
  }
  return -validation.loss;
}

double Trainer::validate(MetricsLog& log) {
  const Validation found = validator_.measure(learner_.average());
  Json line{{"valid_loss", found.loss},
            {"valid_mse", found.mse},
            {"valid_cross_entropy", found.cross_entropy},
            {"valid_outside", found.outside},
            {"valid_exit_histogram", found.exit_histogram}};
  log::info("step {}  validation loss {:.4f}  mse {:.4f}  ce {:.4f}", position_.step, found.loss,
            found.mse, found.cross_entropy);
  if (found.bleu) {
    line["valid_bleu"] = *found.bleu;
    line["valid_exact_match"] = *found.exact_match;
    line["valid_sentences_per_second"] = found.per_second;
    log::info("step {}  {}  exact match {:.1f} %  {:.0f} sentences/s", position_.step,
              found.bleu_line, *found.exact_match, found.per_second);
    for (const Validation::Example& example : found.examples) {
      line["valid_examples"].push_back({{"source", example.source},
                                        {"generated", example.generated},
                                        {"reference", example.reference}});
      log::info("  {}\n    ours  {}\n    ref.  {}", example.source, example.generated,
                example.reference);
    }
  }
  log.write(position_.step, line);
  return score_of(found);
}

void Trainer::save(Checkpoints& checkpoints, std::optional<double> score) const {
  const Json state{{"format", kStateFormat},           {"step", position_.step},
                   {"epoch", position_.epoch},         {"batch", position_.batch},
                   {"corpus", corpus_.fingerprint()},  {"early_stop", early_stop_.state()},
                   {"divergence", divergence_.state()}};
  checkpoints.save(
      position_.step,
      [&](const std::filesystem::path& folder) {
        model::write_model_folder(folder, *model_, learner_.average(), corpus_.tokenizer(),
                                  recipe_.generate, card_of(recipe_, corpus_, position_.step));
        safetensors::save(folder / kTrainingFile, learner_.state());
        write_file_atomically(folder / kStateFile, state.dump(2) + "\n");
      },
      score);
}

void Trainer::restore(const std::filesystem::path& checkpoint) {
  const std::filesystem::path path = checkpoint / kStateFile;
  try {
    const auto state = nlohmann::json::parse(read_file(path));
    require(state.at("format").get<int>() <= kStateFormat,
            "'{}' was written by a newer version of tessera", path.string());
    require(state.at("corpus").get<std::string>() == corpus_.fingerprint(),
            "the run was trained on another corpus than the one in '{}'",
            corpus_.folder().string());
    position_.step = state.at("step").get<int64_t>();
    position_.epoch = state.at("epoch").get<int64_t>();
    position_.batch = state.at("batch").get<int64_t>();
    early_stop_.restore(state.at("early_stop"));
    divergence_.restore(state.at("divergence"));
  } catch (const nlohmann::json::exception& error) {
    throw Error(fmt::format("'{}' is damaged: {}", path.string(), error.what()));
  }
  learner_.restore(safetensors::File(checkpoint / kTrainingFile));
}

}  // namespace tessera::train
