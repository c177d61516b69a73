#pragma once

#include <nlohmann/json.hpp>

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tessera::report {

// A quantity over the updates of a run.
struct Series {
  std::vector<double> steps, values;

  bool empty() const { return steps.empty(); }
};

struct Sample {
  std::string source, generated, reference;
};

// What `tessera evaluate --json` found.
struct Evaluation {
  std::string split;
  int64_t sentences = 0;
  double exact_match = 0;  // percent
  std::string score_line;  // of the first metric, with its signature; empty: none
};

// How a sentence was sampled: what `tessera generate --show-steps --json` printed.
struct Condensation {
  std::string source;
  struct Step {
    double t = 0;
    std::string point, estimate;  // the noisy points and what the network saw in them, decoded
  };
  std::vector<Step> steps;
};

// Of the object that was printed; nothing for a sentence without steps. Throws what JSON throws.
std::optional<Condensation> condensation_of(const nlohmann::ordered_json& json);

// What a run folder tells about its training.
struct RunRecord {
  std::string name;                             // of the folder
  std::string path;                             // of the folder, as it was given
  std::map<std::string, std::string> settings;  // configuration key -> value
  Series loss, updates_per_second;              // of training
  Series learning_rate, gradient_norm;          // likewise
  Series valid_loss, bleu, exact_match;         // of validation; scores in percent
  Series distance, psnr;                        // of validation images
  std::string distance_name;                    // "FD-..."
  // Of the last validation: shares of t0 / T in equal bins from 0 to 1, and samples.
  std::vector<double> exit_histogram;
  std::vector<Sample> samples;
  std::vector<Sample> evaluated;  // all sentences of evaluation.jsonl, if the folder has one
  struct Picture {
    int64_t step;
    std::string uri;  // of a PNG
  };
  // Of images made in validations, from the same noise; of an autoencoder, held-out images beside
  // what came back of them.
  std::vector<Picture> pictures;
  std::optional<Evaluation> evaluation;  // if the folder has an evaluation.json

  std::optional<Condensation> condensation;  // if the folder has a condensation.json

  int64_t updates() const;  // made so far

  bool of_images() const;
  bool of_codes() const;  // an autoencoder of images
  bool scored_by_exact_match() const;
  // Of validation: a distance, a PSNR, exact matches or BLEU, whichever `like` is scored by.
  const Series& score(const RunRecord& like) const;
  std::string score_name() const;  // for people
};

// Throws Error if the folder is not a run or nothing was measured yet.
RunRecord read_run(const std::filesystem::path& folder);

}  // namespace tessera::report
