#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace tessera {

// How texts are generated. Options that are not set come from the model's folder. An option that
// does not apply to the kind of model is refused (UsageError).
struct GenerateOptions {
  // Diffusion models.
  std::optional<int64_t> steps = {};  // more are slower
  // Diffusion of points: the sampler.
  std::optional<double> r = {};              // confidence factor of sampling, 0 to 1
  std::optional<std::string> sampler = {};   // deterministic, gaussian, as-printed or difformer
  std::optional<std::string> path = {};      // altered or fixed
  std::optional<std::string> clock = {};     // absolute or velocity
  std::optional<std::string> estimate = {};  // raw, mean, nearest or rescaled
  // Diffusion of symbols: the sampler.
  std::optional<std::string> order = {};      // random or confidence
  std::optional<std::string> predictor = {};  // ancestral, euler or tau-leaping
  std::optional<int64_t> correctors = {};     // further steps after every step
  // Diffusion models: candidates.
  std::optional<std::string> preset = {};      // fast, balanced or best; others override it
  std::optional<std::string> candidates = {};  // "5": noises of one length; "7x3": lengths x noises
  std::optional<int64_t> lengths = {};         // to try; overrides `candidates`
  std::optional<int64_t> noises = {};          // per length; overrides `candidates`
  std::optional<std::string> length_choice = {};  // likeliest, window or draw
  std::optional<bool> merge_repeats = {};         // keep one of equal symbols in a row
  std::optional<std::string> length = {};         // in symbols: "12", or "+2", "-1" than predicted
  // Of both kinds.
  std::optional<std::string> selection = {};  // mbr, confidence, blend, staged, rerank (of the
                                              // LoadOptions) or rerank=FOLDER, loaded once
  // Autoregressive models.
  std::optional<int64_t> beam = {};           // hypotheses; with a temperature: texts to draw
  std::optional<double> length_penalty = {};  // log-probability is divided by length to this power
  std::optional<double> temperature = {};     // above 0: draw symbols; also in symbol diffusion
  std::optional<int64_t> top_k = {};          // draw among so many likeliest symbols; 0: all
  // Of both kinds.
  std::optional<int64_t> batch_tokens = {};  // limit of candidates x padded length in a batch
  std::optional<std::string> noise = {};     // texts: depends on seed and candidate alone; lines:
                                             // on TextRequest::line, too

  bool operator==(const GenerateOptions&) const = default;
};

}  // namespace tessera
