#pragma once

#include <tessera/ranks/lost_process.h>
#include <tessera/ranks/rank_options.h>

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace tessera::ranks {

// The processes that train together. All of them make the same calls in the same order; what they
// get is equal in all of them, bit for bit. Every call throws LostProcess if one has gone.
class Group {
 public:
  virtual ~Group() = default;

  virtual int rank() const = 0;
  virtual int size() const = 0;
  bool alone() const { return size() == 1; }
  bool first() const { return rank() == 0; }  // the one that writes

  // The sum over all processes, in place.   values: contiguous, on any device
  virtual void sum(const at::Tensor& values) = 0;

  // Takes the values of process 0, in place.
  virtual void broadcast(const at::Tensor& values) = 0;

  // What every process says, by rank.
  virtual std::vector<std::string> gather(const std::string& mine) = 0;

  // To be called after every update, with its number and whether this process wants to stop.
  // Returns whether any process wants to, as of the update before: nothing is waited for unless a
  // process is more than one update behind. Alone: as of this update.
  virtual bool agree_to_stop(int64_t step, bool wanted) = 0;
};

// One process: nothing to do.
Group& alone();

// Meets the others. Throws LostProcess if they do not come in time, Error if that is not possible,
// UsageError for options that make no sense.
std::unique_ptr<Group> meet(const RankOptions& options, at::Device device);

// Thrown by work that was asked to end: no failure.
struct GivenUp {};

// Runs work that may fail in one process alone, and waits for the others. If it threw in any of
// them, all throw: that process its own exception, the others an Error that says which and why, or
// GivenUp.
void together(Group& group, const std::function<void()>& work);

// Process 0 works first, the others after it, as together() does: for files that process 0 makes
// and all read.
void first_then_others(Group& group, const std::function<void()>& work);

}  // namespace tessera::ranks
