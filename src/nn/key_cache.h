#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace tessera::nn {

// What attention looks at: keys and values of every head.
struct Memory {
  at::Tensor keys, values;  // [B, heads, S, width / heads]
};

// The keys and values that a stack of layers keeps of sequences read from left to right: those of
// all positions so far, with room for more.
class KeyCache {
 public:
  struct Size {
    int64_t rows, layers, heads, width;  // width of all heads together
    int64_t room;                        // positions, at most
  };
  explicit KeyCache(const Size& size, const at::TensorOptions& options);

  int64_t length() const { return length_; }  // positions so far

  // Stores a layer's keys and values of the next position, and returns those of all positions so
  // far.
  //   next   [B, heads, 1, width / heads]
  Memory append(int64_t layer, const Memory& next);
  // To be called when all layers have stored the next position.
  void advance() { ++length_; }

  // Row k continues the former row rows[k]. The number of rows may change.   rows [B'] int64
  void select(const at::Tensor& rows);

 private:
  // Positions come first, so that those filled so far are contiguous in memory.
  at::Tensor all_;  // [room, B, layers, 2, heads, width / heads]
  int64_t length_ = 0;
};

}  // namespace tessera::nn
