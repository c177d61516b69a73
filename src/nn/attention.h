#pragma once

#include "nn/key_cache.h"
#include "nn/layers.h"

namespace tessera::nn {

// Which kernels of attention a GPU uses.
enum class Kernels {
  planned,  // the fastest: for shapes that come again, since a plan is made for every new one
  ready,    // for any shape at once: making a plan takes longer than generating some sentences
};

// What is added to the scores of keys: 0, or -inf for those that must not be seen.
//   visible  [B, S] bool, at least one true per row
//   returns  [B, 1, 1, S] of the type the products are computed in
at::Tensor key_bias(const at::Tensor& visible, at::ScalarType dtype);

// Scores of a sequence that is read from left to right: no position sees a later one.
//   returns  [1, 1, length, length]
at::Tensor causal_bias(int64_t length, const at::TensorOptions& options);

// Multi-head attention of a sequence to itself: one product makes queries, keys and values.
class SelfAttention {
 public:
  SelfAttention() = default;
  SelfAttention(Parameters& parameters, const std::string& name, int64_t width, int64_t heads,
                const Initial& initial = Initial::normal());

  //   x     [B, L, width]
  //   bias  [B, 1, 1 or L, L], see key_bias()
  PendingBias operator()(const at::Tensor& x, const at::Tensor& bias, Kernels kernels) const;

  // The next position of sequences that are read from left to right: adds it to the cache, as that
  // of this number among the layers, and looks at all that are there.   x [B, 1, width]
  PendingBias step(const at::Tensor& x, KeyCache& cache, int64_t layer) const;

 private:
  Memory project(const at::Tensor& x, at::Tensor& queries) const;

  int64_t heads_ = 1;
  Linear in_, out_;
};

// Multi-head attention to another sequence, which is projected apart from the queries: once,
// however often it is asked.
class CrossAttention {
 public:
  CrossAttention() = default;
  CrossAttention(Parameters& parameters, const std::string& name, int64_t width, int64_t heads);

  Memory memory(const at::Tensor& m) const;  // [B, S, width]

  //   x     [B * n, L, width]: n groups of queries share one row of the memory
  //   bias  [B, 1, 1, S]
  PendingBias operator()(const at::Tensor& x, const Memory& memory, const at::Tensor& bias,
                         Kernels kernels) const;

 private:
  int64_t heads_ = 1;
  Linear queries_, memory_, out_;
};

}  // namespace tessera::nn
