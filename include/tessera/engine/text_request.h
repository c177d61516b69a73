#pragma once

#include <tessera/base/api.h>
#include <tessera/engine/generate_options.h>
#include <tessera/engine/outcome.h>
#include <tessera/process/sampler.h>

#include <cstdint>
#include <exception>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace tessera {

// A step of the sampler, for one request.   K candidates, L padded length
struct TextStep {
  SampleStep sample;        // of this request alone: x [K, L, d], labels [K, L], ...
  at::Tensor noisy;         // [K, L] int64: the symbols that the noisy points themselves decode to
  int64_t calls = 0;        // network calls when all steps are done
  at::Tensor visible = {};  // [K, L] bool: positions that count; the others are padding
};

// A text to be turned into another one.
struct TextRequest {
  std::string text = {};  // UTF-8
  uint64_t seed = 1;
  GenerateOptions options = {};
  std::optional<int64_t> target_length = {};  // symbols, end included, if known
  std::stop_token stop = {};
  // Called for every step of a diffusion model, which slows it down. What it throws is the
  // request's failure.
  std::function<void(const TextStep&)> on_step = {};
  // Number of the text in the caller's input, from 0: warnings name it, and noise "lines" depends
  // on it. Not set: its place in the call.
  std::optional<int64_t> line = {};
  // Instead of a text: its symbols, numbered as in the model's dictionary, with the end symbol.
  std::vector<int32_t> symbols = {};
  bool candidate_texts = true;  // false: candidates have symbols and scores, but no text
};

struct TESSERA_API TextResult {
  struct Candidate {
    std::string text = {};
    std::vector<int32_t> symbols = {};        // without the end symbol
    int64_t length = 0;                       // symbols there was room for, end included
    double confidence = 0;                    // mean log-probability of its symbols
    double expected_bleu = 0;                 // sentence BLEU against the others, mean, 0 to 100
    double length_log_probability = 0;        // of `length`; 0: not computed
    std::optional<double> rerank_score = {};  // mean log-probability the reranker gives it
    std::optional<double> staged_score = {};  // of the best of its length, with selection "staged"
    double score = 0;                         // the one that decided the choice; -inf: left out
  };

  Outcome outcome = Outcome::done;
  std::exception_ptr failure = {};  // if it failed
  std::string text = {};
  // With a diffusion model, candidate k has the (k / noises)-th likeliest length; those of a beam
  // search are in order, best first. An empty text has one candidate, which is empty.
  std::vector<Candidate> candidates = {};
  size_t chosen = 0;                 // the place of `text` among them
  std::vector<size_t> ranking = {};  // their places, best first
  int64_t predicted_length = 0;      // symbols, end included; 0: the text was empty
  int64_t nfe = 0;                   // network calls; 0: the text was empty
  bool truncated = false;            // the text was longer than the model can read

  // Throws the failure, or Error if it was stopped.
  void require_done() const;
};

}  // namespace tessera
