#pragma once

#include "nn/key_cache.h"
#include "nn/layers.h"

namespace tessera::nn {

// Which attention kernels a GPU uses.
enum class Kernels {
  planned,  // the fastest, for shapes that recur: every new shape needs a plan first
  ready,    // without a plan, for new shapes: a plan takes longer than a few sentences
};

// The bias that is added to the scores of keys: 0, or -inf for keys that must not be seen.
//   visible  [B, S] bool, at least one true per row
//   returns  [B, 1, 1, S], in the type that products are computed in
at::Tensor key_bias(const at::Tensor& visible, at::ScalarType dtype);

// The bias of a sequence that is read from left to right: no position sees a later one.
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

  // One more position of sequences that are read from left to right. Adds its keys and values to
  // the cache under this layer's number, and attends to all positions in the cache.
  //   x  [B, 1, width]
  PendingBias step(const at::Tensor& x, KeyCache& cache, int64_t layer) const;

  const Linear& in() const { return in_; }
  const Linear& out() const { return out_; }

 private:
  Memory project(const at::Tensor& x, at::Tensor& queries) const;

  int64_t heads_ = 1;
  Linear in_, out_;
};

// Multi-head attention to another sequence. memory() computes its keys and values once, for any
// number of queries.
class CrossAttention {
 public:
  CrossAttention() = default;
  CrossAttention(Parameters& parameters, const std::string& name, int64_t width, int64_t heads);

  Memory memory(const at::Tensor& m) const;  // [B, S, width]

  //   x     [B * n, L, width]: n groups of queries share one row of the memory
  //   bias  [B, 1, 1, S]
  PendingBias operator()(const at::Tensor& x, const Memory& memory, const at::Tensor& bias,
                         Kernels kernels) const;

  const Linear& queries() const { return queries_; }
  const Linear& out() const { return out_; }

 private:
  int64_t heads_ = 1;
  Linear queries_, memory_, out_;
};

}  // namespace tessera::nn
