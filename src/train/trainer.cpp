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
#include <cmath>
#include <cstdlib>

namespace tessera::train {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kTrainingFile = "training.safetensors";
constexpr const char* kStateFile = "state.json";
constexpr int kStateFormat = 1;
constexpr double kMostLeftOut = 20;  // updates in a row
constexpr double kTrialSeconds = 5;  // of a dry run on the CPU

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
  context.setSDPUseCuDNN(!deterministic);
  context.setBenchmarkCuDNN(false);
  // cuBLAS reads this when its first handle is made.
  if (deterministic) setenv("CUBLAS_WORKSPACE_CONFIG", ":4096:8", /*overwrite=*/0);
  context.setDeterministicAlgorithms(deterministic, /*warn_only=*/false);
  context.setDeterministicFillUninitializedMemory(false);
}

std::unique_ptr<model::Seq2Seq> new_model(const Recipe& recipe, const text::Corpus& corpus,
                                          at::Device device) {
  const auto precision = device.is_cuda() ? nn::Precision::bfloat16 : nn::Precision::float32;
  return model::make_seq2seq(recipe.model, corpus.tokenizer().dictionary().size(),
                             corpus.unused_in_targets(), device, precision, recipe.run.seed);
}

// The split that is validated on.
std::string validation_split(const text::Corpus& corpus) {
  try {
    corpus.split("valid");
  } catch (const Error& error) {
    throw Error(error.what(),
                "a run validates on it: make the corpus with `tessera prepare --valid`");
  }
  return "valid";
}

// Sentences the model has no positions for are left out, whatever the recipe says.
text::BatcherOptions batches_of(const Recipe& recipe) {
  text::BatcherOptions options = recipe.data.batches;
  options.max_length = std::min(options.max_length, recipe.model.network.positions);
  return options;
}

// "mse 0.9012  length 2.305  "
std::string parts_text(const std::vector<std::pair<std::string, double>>& parts) {
  std::string text;
  for (const auto& [name, value] : parts) text += fmt::format("{} {:.4f}  ", name, value);
  return text;
}

std::string out_of_memory_hint(const Recipe& recipe) {
  return fmt::format(
      "lower data.tokens (now {}) and raise train.accumulate (now {}) by the same factor",
      recipe.data.batches.tokens, recipe.learner.accumulate);
}

Error diverged(const std::string& reason) {
  return Error(fmt::format("training diverged: {}", reason),
               "the checkpoints from before are kept; start a new run, with train.init to begin "
               "from one of them, and a lower train.learning_rate or train.clip or a longer "
               "train.warmup");
}

model::ModelCard card_of(const Recipe& recipe, const text::Corpus& corpus, int64_t step) {
  const bool diffusion = recipe.model.kind == model::ModelKind::diffusion;
  return {.title = "A sequence-to-sequence model of tessera",
          .description =
              diffusion ? "Boundary-conditional diffusion: source sentences to target sentences."
                        : "Source sentences to target sentences, word by word.",
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
      validator_(*model_, corpus, validation_split(corpus), batches_of(recipe), recipe.generate,
                 recipe.run.validate_sentences, recipe.run.seed),
      early_stop_(recipe.early_stop),
      divergence_(recipe.divergence) {}

void Trainer::begin() {
  if (!recipe_.run.init.empty()) start_from(recipe_.run.init);
}

void Trainer::begin(const RunFolder& folder) {
  Checkpoints checkpoints(folder.path(), recipe_.retention);
  const auto newest = checkpoints.newest();
  if (!newest) return begin();
  restore(newest->folder);
  checkpoints.discard_after(position_.step);
  log::info("going on from step {}", position_.step);
}

void Trainer::start_from(const std::filesystem::path& init) {
  const std::filesystem::path folder = model::find_model_folder(init);
  const model::LoadedModel given =
      model::load_model_folder(folder, at::kCPU, nn::Precision::float32);
  if (const auto difference =
          corpus_.tokenizer().dictionary().difference(given.tokenizer.dictionary()))
    throw Error(fmt::format("the model in '{}' does not fit the corpus in '{}': {}",
                            folder.string(), corpus_.folder().string(), *difference),
                "prepare the data with the dictionary of the model (`tessera prepare --dict`)");
  require(given.model->options().kind == recipe_.model.kind,
          "the model in '{}' is of kind '{}', the recipe's of kind '{}'", folder.string(),
          name_of(given.model->options().kind), name_of(recipe_.model.kind));
  learner_.start_from(safetensors::File(folder / "model.safetensors"));
  log::info("weights from {}", folder.string());
}

bool Trainer::is_due(int64_t interval) const {
  return interval > 0 && position_.step % interval == 0;
}

bool Trainer::is_complete() const {
  return !position_.validation_due &&
         (position_.step >= recipe_.run.steps || early_stop_.reason().has_value());
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
  const double rate = learning_rate(recipe_.schedule, position_.step, recipe_.run.steps);
  try {
    learner_.update(position_.step, batches, rate);
  } catch (const c10::OutOfMemoryError&) {
    throw Error("the device has not enough memory", out_of_memory_hint(recipe_));
  } catch (const UsageError&) {
    throw;
  } catch (const Error& error) {  // a check of values; those of the first step are no one's fault
    if (position_.step == 0) throw;
    throw diverged(fmt::format("{} at step {}", error.what(), position_.step + 1));
  }
  ++position_.step;
  position_.validation_due =
      is_due(recipe_.run.validate_every) || position_.step == recipe_.run.steps;
}

double Trainer::try_updates(int64_t warm_up, int64_t updates) {
  const CudaStream stream(model_->device());
  // Returns how many were made.
  const auto make = [&](int64_t count) {
    const double begin = now();
    int64_t made = 0;
    while (made < count &&
           (made == 0 || model_->device().is_cuda() || now() - begin < kTrialSeconds)) {
      update();
      ++made;
    }
    synchronize(model_->device());
    return made;
  };
  make(warm_up);
  const double begin = now();
  const int64_t made = make(updates);
  return static_cast<double>(made) / (now() - begin);
}

void Trainer::run(const RunFolder& folder, const StopSignal& stop) {
  if (is_complete()) {
    log::info("the run is complete: {} steps", position_.step);
    return;
  }
  Checkpoints checkpoints(folder.path(), recipe_.retention);
  MetricsLog metrics(folder.metrics(), position_.step);
  const CudaStream stream(model_->device());
  logged_at_ = now();
  Progress bar("training", recipe_.run.steps, position_.step);
  // A signal came before this validation.
  if (position_.validation_due) follow_up(checkpoints, metrics, stop, /*keep=*/true);
  while (!is_complete()) {
    update();
    bar.advance();
    follow_up(checkpoints, metrics, stop, is_due(recipe_.run.save_every));
  }
  if (const auto reason = early_stop_.reason()) log::info("stopped early: {}", *reason);
}

void Trainer::follow_up(Checkpoints& checkpoints, MetricsLog& metrics, const StopSignal& stop,
                        bool keep) {
  // Asked once: a signal that comes after it is for the next step, which then saves.
  bool stopping = stop.requested();
  keep = keep || stopping || position_.step == recipe_.run.steps;
  // What has diverged must not be saved, and this is where it shows.
  if (is_due(recipe_.run.log_every) || position_.validation_due || keep) log_updates(metrics);
  std::optional<double> score;
  // Whoever sends a signal does not wait long: the validation is left to the run that goes on.
  if (position_.validation_due && !stopping) {
    score = validate(metrics);
    early_stop_.add(position_.step, *score);
    position_.validation_due = false;
    logged_at_ = now();
    stopping = stop.requested();
    const bool best = recipe_.retention.keep_best > 0 && early_stop_.without_gain() == 0;
    keep = keep || best || stopping || early_stop_.reason().has_value();
  }
  if (keep) save(checkpoints, score);
  if (stopping && !is_complete()) throw Stopped(stop.signal());
}

void Trainer::log_updates(MetricsLog& log) {
  const Measured measured = learner_.read();
  if (measured.updates == 0) return;
  try {
    raise_deferred_errors();
  } catch (const Error& error) {
    throw diverged(fmt::format("{} before step {}", error.what(), position_.step));
  }
  const double time = now();
  const double rate = static_cast<double>(measured.updates) / (time - logged_at_);
  logged_at_ = time;
  const double rate_now = learning_rate(recipe_.schedule, position_.step - 1, recipe_.run.steps);
  log::info(
      "step {}  epoch {}  loss {:.4f}  {}norm {:.2f}  lr {:.2e}  {:.1f} updates/s  {:.0f} tokens/s",
      position_.step, position_.epoch, measured.loss, parts_text(measured.parts),
      measured.gradient_norm, rate_now, rate, rate * measured.tokens);
  if (measured.skipped > 0)
    log::warn("{:.0f} updates were left out: their gradient was not finite", measured.skipped);
  Json line{{"epoch", position_.epoch}, {"loss", measured.loss}};
  for (const auto& [name, value] : measured.parts) line[name] = value;
  line.update({{"gradient_norm", measured.gradient_norm},
               {"learning_rate", rate_now},
               {"skipped", measured.skipped},
               {"updates_per_second", rate},
               {"tokens_per_second", rate * measured.tokens}});
  log.write(position_.step, line);
  if (const auto reason = divergence_.add(position_.step, measured.loss)) throw diverged(*reason);
  // Now and then a gradient is not finite; a run without any other stands still.
  const bool all_left_out = measured.skipped == static_cast<double>(measured.updates);
  left_out_ = all_left_out ? left_out_ + measured.skipped : 0;
  if (left_out_ >= kMostLeftOut)
    throw diverged(fmt::format("no gradient was finite in the {:.0f} updates before step {}",
                               left_out_, position_.step));
  // The loss is that of the weights before the update. One that is not finite makes their sum so.
  if (!std::isfinite(model_->parameters().values().sum().item<float>()))
    throw diverged(fmt::format("weights are not finite after step {}", position_.step));
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
  Json line{{"valid_loss", found.loss}};
  for (const auto& [name, value] : found.parts) line["valid_" + name] = value;
  if (found.boundary) {
    line["valid_outside"] = found.boundary->outside;  // whatever r is
    line["valid_exit_histogram"] = found.boundary->histogram;
  }
  log::info("step {}  validation loss {:.4f}  {}", position_.step, found.loss,
            parts_text(found.parts));
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
  const Json state{{"format", kStateFormat},
                   {"step", position_.step},
                   {"epoch", position_.epoch},
                   {"batch", position_.batch},
                   {"validation_due", position_.validation_due},
                   {"corpus", corpus_.fingerprint()},
                   {"early_stop", early_stop_.state()},
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
    position_.validation_due = state.value("validation_due", false);
    early_stop_.restore(state.at("early_stop"));
    divergence_.restore(state.at("divergence"));
  } catch (const nlohmann::json::exception& error) {
    throw Error(fmt::format("'{}' is damaged: {}", path.string(), error.what()));
  }
  learner_.restore(safetensors::File(checkpoint / kTrainingFile));
}

}  // namespace tessera::train
