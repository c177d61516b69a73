#include "base/progress.h"

#include <atomic>
#include <utility>

#include "base/sink.h"

namespace tessera {
namespace {

Sink<ProgressEvent>& progress_sink() {
  static auto* const instance = new Sink<ProgressEvent>;
  return *instance;
}

uint64_t next_number() {
  static std::atomic<uint64_t> last{0};
  return ++last;
}

}  // namespace

void set_progress_sink(ProgressSink function) {
  progress_sink().set(std::move(function));
}

Progress::Progress(std::string label, int64_t total, int64_t start)
    : event_{.work = next_number(),
             .label = std::move(label),
             .done = start,
             .total = total,
             .start = start},
      began_(std::chrono::steady_clock::now()) {
  tell(ProgressEvent::Phase::began);
}

Progress::~Progress() {
  tell(ProgressEvent::Phase::ended);
}

void Progress::advance(int64_t n) {
  const std::lock_guard lock(mutex_);
  event_.done += n;
  tell(ProgressEvent::Phase::advanced);
}

void Progress::note(std::string text) {
  const std::lock_guard lock(mutex_);
  event_.note = std::move(text);
  tell(ProgressEvent::Phase::advanced);
}

void Progress::tell(ProgressEvent::Phase phase) {
  if (!progress_sink().is_set()) return;
  event_.phase = phase;
  event_.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began_).count();
  progress_sink().call(event_);
}

}  // namespace tessera
