#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace tessera {

// Where a long piece of work stands.
struct ProgressState {
  std::string label;
  int64_t done = 0;
  int64_t total = 0;      // 0: unknown
  int64_t start = 0;      // what was done before the clock started (a resumed run)
  double seconds = 0;     // since the clock started
  std::string note = {};  // free text at the end of the line
};

// One line of at most `columns` characters (0: any number, without a bar, as for a log):
//   sampling  42% [========>           ]  420/1000  12.3/s  eta 0:47  loss 1.23
// or, with the total unknown,
//   sampling  420  12.3/s  0:35  loss 1.23
// Where the line is too short, the bar shrinks and disappears, then the note, then the count go.
std::string progress_line(const ProgressState& state, int columns);

std::string rate_text(double per_second);   // "12.3/s", "4.50k/s", "7.20/min", "3.00/h"
std::string duration_text(double seconds);  // "0:47", "12:05", "3:07:12", "2d 04:10:00"

// How a bar is shown.
struct ProgressDisplay {
  bool terminal = false;  // a bar on one line of stderr, redrawn in place
  double redraw_seconds = 0.1;
  double log_seconds = 30;  // without a terminal: a log line this often, nothing before the first

  static ProgressDisplay detect();  // a terminal if stderr is one and the log is not quiet
};

// Shows how far a piece of work is, from construction to destruction.
//   Progress bar("sampling", total);
//   ... bar.advance(batch_size); bar.note("loss 1.23");
// Of bars within bars the innermost is shown; when it ends it is wiped and the outer one shows
// again. Safe to advance from several threads.
class Progress {
 public:
  //   total  0: unknown
  //   start  what is done already, it does not count for the rate
  Progress(std::string label, int64_t total, int64_t start = 0,
           const ProgressDisplay& display = ProgressDisplay::detect());
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void advance(int64_t n = 1);
  void note(std::string text);

 private:
  using Clock = std::chrono::steady_clock;

  void show();  // called with the lock held
  void draw();

  ProgressState state_;
  ProgressDisplay display_;
  Clock::time_point began_;
  Clock::time_point shown_;  // when the bar was drawn or the last log line written
};

}  // namespace tessera
