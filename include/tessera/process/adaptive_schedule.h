#pragma once

#include <tessera/base/api.h>
#include <tessera/files/safetensors.h>
#include <tessera/process/time_warp.h>
#include <tessera/process/trajectory.h>

#include <string>

namespace tessera {

struct AdaptiveScheduleOptions {
  int64_t stride = 0;      // updates between two changes of the schedule; 0: it never changes
  int64_t start = 0;       // updates before the first change
  int64_t bin = 20;        // steps whose errors are counted together
  int64_t positions = 64;  // with a schedule of their own; later ones share the last
};

// A noise schedule that adapts during training (SeqDiffuSeq), so that for every position the error
// of the network's estimate grows evenly with time. Errors are counted by time and position, and
// the schedule is recomputed from them now and then. The counting is deterministic, has fixed
// shapes, and does not wait for the device.
class TESSERA_API AdaptiveSchedule {
 public:
  // Throws UsageError for options that make no sense.
  AdaptiveSchedule(const AdaptiveScheduleOptions& options, const Trajectory& trajectory,
                   at::Device device);

  // The schedule, which changes in place.
  const TimeWarp& warp() const { return warp_; }

  // Counts errors of estimates.
  //   t [B] in [0, T],  error [B, L],  mask [B, L] bool (true: counts) or undefined: all count
  void observe(const at::Tensor& t, const at::Tensor& error, const at::Tensor& mask);

  // Call it before every update of the network: it recomputes the schedule when that is due. So the
  // schedule at the end of a training is the one that the network was last trained with.
  //   updates  made so far
  void updated(int64_t updates);

  // The schedule and what was counted, by name.
  safetensors::Tensors state() const;
  // Restores it. Throws Error if a shape differs.
  void restore(const safetensors::File& file, const std::string& prefix);

 private:
  void forget();  // what was counted

  AdaptiveScheduleOptions options_;
  Trajectory trajectory_;
  TimeWarp warp_;
  at::Tensor bins_;    // [n] int64: 0 .. n - 1
  at::Tensor errors_;  // [n, positions] float64: sums
  at::Tensor counts_;  // [n, positions] float64
};

// A schedule under which errors grow evenly with time, given the errors under another.
//   times   [T + 1, P] float64: TimeWarp::table()
//   errors  [n, P] float64: mean errors at times 1 .. bin, bin + 1 .. 2 bin, ...; n >= 2
//   -> [T + 1, P] float64, growing with time from 0 to T; times 0, 1 and T stay what they are
TESSERA_API at::Tensor even_schedule(const Trajectory& trajectory, const at::Tensor& times,
                                     const at::Tensor& errors, int64_t bin);

}  // namespace tessera
