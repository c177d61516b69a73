#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>

#include "tessera/base/progress_sink.h"

namespace tessera {

// Tells the sink of the program (set_progress_sink) how far a piece of work is, from construction
// to destruction.
//   Progress progress("sampling", total);
//   ... progress.advance(batch_size); progress.note("loss 1.23");
// Safe to advance from several threads.
class Progress {
 public:
  //   total  0: unknown
  //   start  what is done already; it does not count in the rate
  Progress(std::string label, int64_t total, int64_t start = 0);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void advance(int64_t n = 1);
  void note(std::string text);

 private:
  void tell(ProgressEvent::Phase phase);  // called with the lock held

  std::mutex mutex_;
  ProgressEvent event_;
  std::chrono::steady_clock::time_point began_;
};

}  // namespace tessera
