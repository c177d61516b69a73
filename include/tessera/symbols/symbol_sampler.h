#pragma once

#include <tessera/base/api.h>
#include <tessera/process/symbol_sampling.h>
#include <tessera/symbols/symbol_objective.h>
#include <tessera/symbols/symbol_process.h>

#include <functional>
#include <vector>

namespace tessera {

// A network of symbols, in two parts: logits are asked for only where they are needed.
struct SymbolNetwork {
  // x [B, ...] states, t [B] float32 in [0, T]  ->  [B, ..., e]
  std::function<at::Tensor(const at::Tensor& x, const at::Tensor& t)> estimate;
  // [N, e]  ->  [N, K]
  std::function<at::Tensor(const at::Tensor& estimate)> logits;
};

struct SymbolSamplerOptions {
  int64_t steps = 20;
  SymbolSampling sampling = {};
  SymbolTarget target = SymbolTarget::bound;  // what the network was taught
  uint64_t seed = 0;                          // if samples have none of their own
};

// What a callback sees: the state before step `index`, and what the network made of it.
struct SymbolStep {
  int64_t index;
  double t;
  at::Tensor x;         // [B, ...]     states
  at::Tensor estimate;  // [B, ..., e]
};

struct SymbolSample {
  at::Tensor x;                  // [B, ...]  symbols
  at::Tensor log_probabilities;  // [B, ...]  float32: of every symbol when it was chosen
  at::Tensor estimate;           // [B, ..., e]  the network's last one
  int64_t calls;                 // of the network
};

// The reverse process of symbols. Draws are functions of (seed, step, sample, position). No mask
// is left at the end. Runs without gradients.
class TESSERA_API SymbolSampler {
 public:
  // Throws UsageError for options that make no sense for the process.
  SymbolSampler(const SymbolProcess& process, const SymbolSamplerOptions& options);

  int64_t calls() const;  // of the network, at most

  //   samples  [B] int64
  //   shape    of one sample
  //   given    [B, ...] int64: symbols that stay as they are, -1 for other positions; or undefined
  //   seeds    [B] int64: of every sample; undefined: that of the options
  //   present  [B, ...] bool: positions to make, others are symbol 0; or undefined: make all
  //   callback returns false to stop: positions still covered then get the likeliest symbol
  SymbolSample run(const SymbolNetwork& network, const at::Tensor& samples, at::IntArrayRef shape,
                   const at::Tensor& given = {}, const at::Tensor& seeds = {},
                   const at::Tensor& present = {},
                   const std::function<bool(const SymbolStep&)>& callback = {}) const;

 private:
  SymbolProcess process_;
  SymbolSamplerOptions options_;
  std::vector<double> times_;  // of the steps, descending, and 0
};

}  // namespace tessera
