#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace tessera {

// How texts are generated. What is not set is as the model's folder says. An option that does not
// concern the kind of the model is refused (UsageError).
struct GenerateOptions {
  // Of diffusion models.
  std::optional<int64_t> steps = {};  // more are slower
  // Of diffusion of points: the sampler.
  std::optional<double> r = {};              // confidence factor of sampling, 0 to 1
  std::optional<std::string> sampler = {};   // deterministic, gaussian, as-printed or difformer
  std::optional<std::string> path = {};      // altered or fixed
  std::optional<std::string> clock = {};     // absolute or velocity
  std::optional<std::string> estimate = {};  // raw, mean, nearest or rescaled
  // Of diffusion of symbols: the sampler.
  std::optional<std::string> order = {};      // random or confidence
  std::optional<std::string> predictor = {};  // ancestral, euler or tau-leaping
  std::optional<int64_t> correctors = {};     // further steps after every step
  // Of diffusion models: candidates.
  std::optional<std::string> preset = {};      // fast, balanced or best; all others win over it
  std::optional<std::string> candidates = {};  // "5": noises of one length; "7x3": lengths x noises
  std::optional<int64_t> lengths = {};         // that are tried; wins over `candidates`
  std::optional<int64_t> noises = {};          // of every length; wins over `candidates`
  std::optional<std::string> length_choice = {};  // likeliest, window or draw
  std::optional<bool> merge_repeats = {};         // of equal symbols in a row keep one
  std::optional<std::string> length = {};         // in symbols: "12", or "+2", "-1" than predicted
  // Of both kinds.
  std::optional<std::string> selection = {};  // mbr, confidence, blend, staged, rerank (of the
                                              // LoadOptions) or rerank=FOLDER, loaded once
  // Of autoregressive models.
  std::optional<int64_t> beam = {};           // hypotheses; with a temperature: texts to draw
  std::optional<double> length_penalty = {};  // log-probability is divided by length to this power
  std::optional<double> temperature = {};     // above 0: symbols are drawn; of symbols, too
  std::optional<int64_t> top_k = {};          // draw among so many of the likeliest; 0: all
  // Of both kinds.
  std::optional<int64_t> batch_tokens = {};  // candidates x padded length of a batch, at most
  std::optional<std::string> noise = {};     // texts: depends on seed and candidate alone; lines:
                                             // on TextRequest::line, too

  bool operator==(const GenerateOptions&) const = default;
};

}  // namespace tessera
