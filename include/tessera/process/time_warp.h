#pragma once

#include <tessera/base/api.h>

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace tessera {

// A separate schedule for every position of a sequence: the time on the trajectory that a position
// has when the process is at time t. Between whole steps it is interpolated; positions beyond the
// table are treated like the last one. Copies share the table, which a schedule may change in place
// (see AdaptiveSchedule).
class TESSERA_API TimeWarp {
 public:
  // The identity: every position is at time t.
  TimeWarp(int64_t horizon, int64_t positions, at::Device device);

  int64_t horizon() const { return table_.size(0) - 1; }
  int64_t positions() const { return table_.size(1); }
  const at::Tensor& table() const { return table_; }  // [T + 1, positions] float64, in [0, T]

  //   t [B] in [0, T]  ->  [B, length], in the dtype of t
  at::Tensor operator()(const at::Tensor& t, int64_t length) const;

 private:
  at::Tensor table_;
};

}  // namespace tessera
