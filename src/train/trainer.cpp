#include "train/trainer.h"

#include "base/log.h"
#include "base/numerals.h"
#include "base/progress.h"
#include "base/require.h"
#include "files/files.h"
#include "files/hash.h"
#include "files/json_file.h"
#include "tensor/device.h"
#include "tensor/out_of_memory.h"

#include <tessera/tensor/value_checks.h>

#include <ATen/ATen.h>
#include <c10/util/Exception.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <chrono>
#include <cmath>

namespace tessera::train {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kTrainingFile = "training.safetensors";
constexpr const char* kStateFile = "state.json";
constexpr int kNewestState =
    static_cast<int>(UpdateRule::joint);  // state.json's format says the rule
constexpr double kMostLeftOut = 20;       // updates in a row
constexpr double kTrialSeconds = 5;       // of a dry run on the CPU

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

Trainer::Trainer(Task& task, const TrainingOptions& options, ranks::Group& group)
    : task_(task),
      options_(options),
      group_(group),
      learner_(task.model(), options.learner, options.run.seed, group),
      early_stop_(options.early_stop),
      divergence_(options.divergence) {}

void Trainer::begin() {
  ranks::together(group_, [&] {
    if (group_.first()) begin_here();
  });
  share_beginning();
}

void Trainer::begin(const RunFolder& folder) {
  ranks::together(group_, [&] {
    if (group_.first()) begin_here(folder);
  });
  share_beginning();
}

void Trainer::begin_here() {
  if (options_.run.init.empty()) return;
  learner_.start_from(task_.weights_of(options_.run.init));
  log::info("weights from {}", options_.run.init.string());
}

void Trainer::begin_here(const RunFolder& folder) {
  Checkpoints checkpoints(folder.path(), options_.retention);
  const auto newest = checkpoints.newest();
  if (!newest) {
    if (!checkpoints.all().empty())
      throw Error(fmt::format("no checkpoint in '{}' is whole: there is nothing to go on from",
                              folder.path().string()),
                  "remove its folder 'checkpoints' to train it from the beginning, or start a new "
                  "run, with train.init to begin from a checkpoint that still has its weights");
    return begin_here();
  }
  restore(newest->folder);
  checkpoints.discard_after(position_.step);
  log::info("going on from step {}", position_.step);
}

void Trainer::share_beginning() {
  if (group_.alone()) return;
  const Json mine = group_.first() ? position() : Json();
  const std::string first = group_.gather(mine.dump()).front();
  if (!group_.first()) {
    set_position(nlohmann::json::parse(first));
    saved_ = position_.step > 0;
  }
  learner_.share_state();
}

bool Trainer::is_due(int64_t interval) const {
  return interval > 0 && position_.step % interval == 0;
}

bool Trainer::is_complete() const {
  return !position_.validation_due &&
         (position_.step >= options_.run.steps || early_stop_.reason().has_value());
}

Error Trainer::diverged(const std::string& reason) const {
  const char* const calmer = "a lower train.learning_rate or train.clip or a longer train.warmup";
  const std::string hint =
      saved_ ? fmt::format(
                   "the checkpoints from before are kept; start a new run, with train.init "
                   "to begin from one of them, and {}",
                   calmer)
             : fmt::format(
                   "no checkpoint was saved before it, so there is nothing to go back to; "
                   "start a new run in another folder (train.out), with {}",
                   calmer);
  return Error(fmt::format("training diverged: {}", reason), hint);
}

void Trainer::update() {
  std::vector<nn::Inputs> batches;
  for (int64_t i = 0; i < options_.learner.accumulate; ++i) {
    if (learner_.computes(i)) batches.push_back(task_.batch(position_.epoch, position_.batch));
    if (++position_.batch == task_.batches(position_.epoch)) {
      position_.batch = 0;
      ++position_.epoch;
    }
  }
  const double rate = learning_rate(options_.schedule, position_.step, options_.run.steps);
  try {
    learner_.update(position_.step, batches, rate);
  } catch (const c10::Error& error) {
    if (!is_out_of_memory(error)) throw;
    throw Error("the device has not enough memory", task_.memory_hint());
  } catch (const UsageError&) {
    throw;
  } catch (const LostProcess&) {
    throw;
  } catch (const Error& error) {  // a value check; at step 0 it says nothing about divergence
    if (position_.step == 0) throw;
    throw diverged(fmt::format("{} at step {}", error.what(), position_.step + 1));
  }
  ++position_.step;
  position_.validation_due =
      is_due(options_.run.validate_every) || position_.step == options_.run.steps;
}

double Trainer::try_updates(int64_t warm_up, int64_t updates) {
  const CudaStream stream(task_.model().device());
  // Returns how many were made.
  const auto make = [&](int64_t count) {
    const double begin = now();
    int64_t made = 0;
    while (made < count &&
           (made == 0 || task_.model().device().is_cuda() || now() - begin < kTrialSeconds)) {
      update();
      ++made;
    }
    synchronize(task_.model().device());
    return made;
  };
  make(warm_up);
  const double begin = now();
  const int64_t made = make(updates);
  return static_cast<double>(made) / (now() - begin);
}

TrainingEnd Trainer::run(const RunFolder& folder, const std::stop_token& stop,
                         const OnTrainingProgress& on_progress) {
  if (is_complete()) return {};
  const Listener listener{stop, on_progress};
  const double began = now();
  std::optional<Records> own;
  if (group_.first()) own.emplace(folder, options_.retention, position_.step);
  Records* const records = own ? &*own : nullptr;
  const CudaStream stream(task_.model().device());
  logged_at_ = now();
  std::optional<Progress> bar;
  if (group_.first()) bar.emplace("training", options_.run.steps, position_.step);
  // The run was stopped before this validation.
  bool stopped =
      position_.validation_due && follow_up(records, listener, /*stopping=*/false, /*keep=*/true);
  while (!stopped && !is_complete()) {
    update();
    if (bar) bar->advance();
    // Asked only once: a later request is for the next step, which then saves.
    const bool stopping = group_.agree_to_stop(position_.step, stop.stop_requested());
    stopped = follow_up(records, listener, stopping, is_due(options_.run.save_every));
  }
  if (const auto reason = early_stop_.reason(); reason && !stopped)
    log::info("stopped early: {}", *reason);
  return {stopped, now() - began};
}

bool Trainer::follow_up(Records* records, const Listener& listener, bool stopping, bool keep) {
  keep = keep || stopping || position_.step == options_.run.steps;
  // This throws if the run has diverged, before anything is saved.
  if (is_due(options_.run.log_every) || position_.validation_due || keep)
    log_updates(records, listener);
  std::optional<double> score;
  // A stop must not take long: the validation is left to the resumed run.
  if (position_.validation_due && !stopping) {
    try {
      score = validate(records, listener.stop);
    } catch (const LostProcess&) {
      throw;
    } catch (const std::exception&) {
      log::error("the validation failed: step {} is kept", position_.step);
      save(records, {});
      throw;
    }
    // Of several processes, one may have been asked to stop by now and others not.
    stopping = !score || (group_.alone() && listener.stop.stop_requested());
    keep = keep || stopping;
  }
  if (score) {
    early_stop_.add(position_.step, *score);
    position_.validation_due = false;
    logged_at_ = now();
    const bool best = early_stop_.without_gain() == 0;
    if (best) log::highlight("step {}  best so far: {}", position_.step, task_.score_text(*score));
    keep = keep || (best && options_.retention.keep_best > 0) || early_stop_.reason().has_value();
  }
  if (keep) save(records, score);
  if (score && listener.on_progress) {
    TrainingProgress validated = told_;
    validated.step = position_.step;
    validated.steps = options_.run.steps;
    validated.epoch = position_.epoch;
    validated.score = score;
    listener.on_progress(validated);
  }
  return stopping && !is_complete();
}

void Trainer::log_updates(Records* records, const Listener& listener) {
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
  const double rate_now = learning_rate(options_.schedule, position_.step - 1, options_.run.steps);
  // The parts of the loss are in metrics.jsonl and in the lines of validations.
  log::fields({fmt::format("step {}", position_.step), fmt::format("epoch {}", position_.epoch),
               fmt::format("loss {:.4f}", measured.loss),
               fmt::format("norm {:.2f}", measured.gradient_norm),
               fmt::format("lr {:.2e}", rate_now), fmt::format("{:.1f} updates/s", rate)});
  if (measured.skipped > 0)
    log::warn("{} left out, because gradients were not finite",
              counted(static_cast<int64_t>(measured.skipped), "update was", "updates were"));
  Json line{{"epoch", position_.epoch}, {"loss", measured.loss}};
  for (const auto& [name, value] : measured.parts) line[name] = value;
  line.update({{"gradient_norm", measured.gradient_norm},
               {"learning_rate", rate_now},
               {"skipped", measured.skipped},
               {"updates_per_second", rate},
               {task_.unit() + "_per_second", rate * measured.elements}});
  if (!group_.alone()) line["processes"] = group_.size();
  if (records != nullptr) records->metrics.write(position_.step, line);
  told_ = {.step = position_.step,
           .steps = options_.run.steps,
           .epoch = position_.epoch,
           .loss = measured.loss,
           .gradient_norm = measured.gradient_norm,
           .updates_per_second = rate,
           .learning_rate = rate_now,
           .score = {}};
  if (listener.on_progress) listener.on_progress(told_);
  if (const auto reason = divergence_.add(position_.step, measured.loss)) throw diverged(*reason);
  // Some gradients are not finite now and then. If all are, the run makes no progress.
  const bool all_left_out = measured.skipped == static_cast<double>(measured.updates);
  left_out_ = all_left_out ? left_out_ + measured.skipped : 0;
  if (left_out_ >= kMostLeftOut)
    throw diverged(fmt::format("no gradient was finite in the {:.0f} updates before step {}",
                               left_out_, position_.step));
  // The loss belongs to the weights before the update. If one weight is not finite, neither is
  // their sum.
  if (!std::isfinite(task_.model().parameters().values().sum().item<float>()))
    throw diverged(fmt::format("weights are not finite after step {}", position_.step));
}

std::optional<double> Trainer::validate(Records* records, const std::stop_token& stop) {
  try {
    const Validation found = task_.validate(learner_.average(), position_.step, [&] {
      if (stop.stop_requested()) throw ranks::GivenUp();
    });
    if (records != nullptr) records->metrics.write(position_.step, found.line);
    if (group_.alone()) return found.score;
    // A distance is computed in every process, and may be rounded otherwise on another machine.
    const at::Tensor score = at::full({1}, found.score, at::kDouble);
    group_.broadcast(score);
    return score.item<double>();
  } catch (const ranks::GivenUp&) {
    return std::nullopt;
  }
}

Json Trainer::position() const {
  return {{"format", static_cast<int>(learner_.rule())},
          {"step", position_.step},
          {"epoch", position_.epoch},
          {"batch", position_.batch},
          {"validation_due", position_.validation_due},
          {"corpus", task_.fingerprint()},
          {"early_stop", early_stop_.state()},
          {"divergence", divergence_.state()}};
}

void Trainer::set_position(const nlohmann::json& state) {
  learner_.set_rule(static_cast<UpdateRule>(state.at("format").get<int>()));
  position_.step = state.at("step").get<int64_t>();
  position_.epoch = state.at("epoch").get<int64_t>();
  position_.batch = state.at("batch").get<int64_t>();
  position_.validation_due = state.value("validation_due", false);
  early_stop_.restore(state.at("early_stop"));
  divergence_.restore(state.at("divergence"));
}

// Equal updates of equal weights are equal in all processes. If they are not, an operation is not
// deterministic, or a device is broken.
void Trainer::require_equal_weights() const {
  if (group_.alone()) return;
  const at::Tensor weights = task_.model().parameters().values().cpu();
  const auto* const bytes = static_cast<const char*>(weights.const_data_ptr());
  const std::vector<std::string> all =
      group_.gather(content_hash({bytes, static_cast<size_t>(weights.nbytes())}));
  for (size_t k = 1; k < all.size(); ++k)
    require(all[k] == all.front(),
            "the weights of process {} are not those of process 0 after step {}: nothing was saved",
            k, position_.step);
}

void Trainer::save(Records* records, std::optional<double> score) {
  require_equal_weights();
  // Some launchers end all processes when one has ended: nobody goes on before it is written.
  ranks::together(group_, [&] {
    if (records == nullptr) return;
    records->checkpoints.save(
        position_.step,
        [&](const std::filesystem::path& folder) {
          task_.write_model(folder, learner_.average(), position_.step);
          safetensors::save(folder / kTrainingFile, learner_.state());
          write_file_atomically(folder / kStateFile, position().dump(2) + "\n");
        },
        score);
  });
  saved_ = true;
}

void Trainer::restore(const std::filesystem::path& checkpoint) {
  const std::filesystem::path path = checkpoint / kStateFile;
  try {
    const nlohmann::json state = read_json(path);
    const int format = state.at("format").get<int>();
    require(format <= kNewestState, "'{}' was written by a newer version of tessera",
            path.string());
    require(format >= 1, "'{}' is damaged: there is no format {}", path.string(), format);
    require(state.at("corpus").get<std::string>() == task_.fingerprint(),
            "the run was trained on other data than what is in '{}'", task_.data().string());
    set_position(state);
    require(position_.step >= 0 && position_.epoch >= 0 && position_.batch >= 0 &&
                position_.batch < task_.batches(position_.epoch),
            "'{}' is damaged: the data has no batch {} of epoch {}", path.string(), position_.batch,
            position_.epoch);
  } catch (const nlohmann::json::exception& error) {
    throw Error(fmt::format("'{}' is damaged: {}", path.string(), json_problem(error)));
  }
  const std::filesystem::path training = checkpoint / kTrainingFile;
  const safetensors::File file(training);
  try {
    learner_.restore(file);
  } catch (const Error& error) {
    throw Error(fmt::format("'{}': {}", training.string(), error.what()), error.hint());
  }
  saved_ = true;
}

}  // namespace tessera::train
