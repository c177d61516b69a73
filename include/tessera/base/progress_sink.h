#pragma once

#include <tessera/base/api.h>

#include <cstdint>
#include <functional>
#include <string>

namespace tessera {

// Where a long piece of work stands.
struct ProgressEvent {
  enum class Phase { began, advanced, ended };

  Phase phase = Phase::advanced;
  uint64_t work = 0;  // its number: pieces of work can be nested, and run in several threads
  std::string label;  // "training"
  int64_t done = 0;
  int64_t total = 0;      // 0: unknown
  int64_t start = 0;      // what was done before the clock started (a resumed run)
  double seconds = 0;     // since the clock started
  std::string note = {};  // free text
};

// Takes events, one at a time, in the thread that works. It is called often and should be quick. It
// must not throw, and must not call set_progress_sink().
using ProgressSink = std::function<void(const ProgressEvent&)>;

// Sets who is told the progress of long pieces of work, for the whole process; nobody at first.
// Once this returns, the former sink is not called any more.
TESSERA_API void set_progress_sink(ProgressSink sink);

}  // namespace tessera
