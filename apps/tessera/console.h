#pragma once

#include <tessera/base/log_sink.h>
#include <tessera/base/progress_sink.h>

#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

namespace tessera::app {

// How progress is shown.
struct ProgressDisplay {
  bool terminal = false;  // a bar on one line of stderr, redrawn in place
  double redraw_seconds = 0.1;
  double log_seconds = 30;  // without a terminal: a log line this often, nothing before the first
};

// What the program says while it works, on stderr:
//   [2026-11-15 10:12:01] 2,000 steps, loss 1.234
//   [2026-11-15 10:12:01] warn: 3 of 160,239 pairs are empty, left out
// and, on a terminal, how far it is. Of nested bars the innermost is shown; when it ends, it is
// wiped and the outer one shows again. Bars make way for lines of the log. stdout is for data and
// is never written to. Safe to use from several threads.
class Console {
 public:
  enum class Level {
    debug,   // everything
    normal,  // all but debugging
    quiet,   // warnings and errors only
  };

  Console();  // a terminal if stderr is one
  explicit Console(const ProgressDisplay& display) : display_(display) {}

  void set_level(Level level);

  // For one of several processes that work together: names it in every line.
  void speak_as(const std::string& name);
  std::string name() const;  // "[process 3] "; empty: not one of several

  // Makes it the sink of the library's log and progress. It must live until another takes over.
  void listen();

  void log(const LogLine& line);
  void progress(const ProgressEvent& event);

 private:
  using Clock = std::chrono::steady_clock;

  struct Work {
    uint64_t number;
    Clock::time_point shown;  // when it was drawn or the last log line written
  };

  void show(Work& work, const ProgressEvent& event);
  void draw(const ProgressEvent& event);
  void wipe();
  void write_line(const std::string& text);
  bool is_said(Severity severity) const;

  mutable std::mutex mutex_;
  std::string name_;
  ProgressDisplay display_;
  Level level_ = Level::normal;
  std::vector<Work> works_;  // the innermost last
  bool line_in_use_ = false;
};

}  // namespace tessera::app
