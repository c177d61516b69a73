#pragma once

#include "nn/trainable.h"

#include <tessera/files/safetensors.h>

#include <nlohmann/json.hpp>

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace tessera::train {

// The result of a validation.
struct Validation {
  double score = 0;             // higher is better: selects the best checkpoint
  nlohmann::ordered_json line;  // for metrics.jsonl
};

// A fact about a task: a key and a value for programs, one or more lines for people.
struct Fact {
  std::string key;
  nlohmann::ordered_json value;
  std::string title, text;
};

// What a run trains, and on what. The trainer asks for batches and validations, and knows nothing
// of text or images.
class Task {
 public:
  virtual ~Task() = default;

  virtual nn::Trainable& model() = 0;
  virtual const nn::Trainable& model() const = 0;

  // Batches on the host, epoch after epoch: functions of (seed, epoch, number).
  virtual int64_t batches(int64_t epoch) const = 0;
  virtual nn::Inputs batch(int64_t epoch, int64_t number) const = 0;

  // A score of validate() for people: "BLEU 32.45".
  virtual std::string score_text(double score) const = 0;

  // Measures weights (like parameters().values()) on data that is not trained on, and logs the
  // results. Processes that train together share the work, and all get the same score.
  //   pause  is called now and then; throws if the validation is to be given up
  virtual Validation validate(const at::Tensor& weights, int64_t step,
                              const std::function<void()>& pause) = 0;

  // The weights of another run or model to begin with. Throws Error if they do not fit.
  virtual safetensors::File weights_of(const std::filesystem::path& run_or_model) const = 0;

  // Writes a model folder with these weights.
  virtual void write_model(const std::filesystem::path& folder, const at::Tensor& weights,
                           int64_t step) const = 0;

  virtual std::filesystem::path data() const = 0;  // the folder it learns from
  virtual std::string fingerprint() const = 0;     // of its contents
  virtual std::string unit() const = 0;            // of the data of an update: "tokens"
  virtual std::string memory_hint() const = 0;     // what to lower if memory runs out
  virtual std::vector<Fact> facts() const = 0;     // besides the number of parameters

  // What can be done with a run of this task: commands to type.
  virtual std::vector<std::string> next_commands(const std::filesystem::path& run) const = 0;
};

}  // namespace tessera::train
