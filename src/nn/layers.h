#pragma once

#include "nn/parameters.h"
#include "nn/pending_bias.h"

#include <string>

// The small parts of networks. Points pass between them as float32 [..., width]. A product casts
// its input to the precision of its weights, and returns its result in that precision.
namespace tessera::nn {

// Whether dropout is on.
enum class Mode { training, inference };

struct Linear {
  Linear() = default;
  Linear(Parameters& parameters, const std::string& name, int64_t inputs, int64_t outputs,
         bool with_bias = true, const Initial& initial = Initial::normal());

  at::Tensor operator()(const at::Tensor& x) const;  // [..., inputs] -> [..., outputs]
  PendingBias without_bias(const at::Tensor& x) const;

  Weight weight;  // [outputs, inputs]
  Weight bias;    // [outputs], or not defined
};

struct LayerNorm {
  LayerNorm() = default;
  LayerNorm(Parameters& parameters, const std::string& name, int64_t width);

  at::Tensor operator()(const at::Tensor& x) const;  // [..., width] -> the same

  static constexpr double kEps = 1e-5;  // added to the variance
  Weight scale, shift;                  // [width]
};

// Learned vectors for positions 0 .. count-1.
struct Positions {
  Positions() = default;
  Positions(Parameters& parameters, const std::string& name, int64_t count, int64_t width);

  at::Tensor operator()(int64_t length, int64_t first = 0) const;  // [length, width]

  Weight table;
};

// Zeros a share of the elements in training and scales up the rest. Takes random numbers from the
// SeededDropout in force; there is one per batch.
at::Tensor dropout(const at::Tensor& x, double share, Mode mode);

}  // namespace tessera::nn
