#include "base/progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <mutex>
#include <vector>

#include "base/log.h"
#include "base/terminal.h"

namespace tessera {
namespace {

constexpr int kWidestBar = 30;
constexpr int kNarrowestBar = 6;

// The bars on the terminal, the innermost last. The lock is recursive because the log's hook, which
// takes it, also runs for the lines a bar itself writes.
struct Screen {
  std::recursive_mutex mutex;
  std::vector<const Progress*> bars;
  bool line_in_use = false;

  void wipe() {
    if (!line_in_use) return;
    std::fputs("\r\x1b[K", stderr);
    std::fflush(stderr);
    line_in_use = false;
  }
};

Screen& screen() {
  static Screen* const instance = new Screen;
  return *instance;
}

void make_way_for_log_line() {
  const std::lock_guard lock(screen().mutex);
  screen().wipe();
}

int terminal_columns() {
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

bool begins_character(char byte) {
  return (static_cast<unsigned char>(byte) & 0xc0) != 0x80;
}

int width_of(std::string_view text) {
  return static_cast<int>(std::count_if(text.begin(), text.end(), begins_character));
}

std::string cut_to(std::string_view text, int columns) {
  size_t end = 0;
  for (int width = 0; end < text.size(); ++end)
    if (begins_character(text[end]) && width++ == columns) break;
  return std::string(text.substr(0, end));
}

std::string bar_of(double fraction, int columns) {
  const int filled = static_cast<int>(fraction * columns);
  std::string bar(static_cast<size_t>(filled), '=');
  if (filled < columns) bar += '>';
  bar.resize(static_cast<size_t>(columns), ' ');
  return '[' + bar + "] ";
}

}  // namespace

std::string rate_text(double per_second) {
  struct Unit {
    double scale;
    const char* name;
  };
  constexpr Unit units[] = {{1e-9, "G/s"}, {1e-6, "M/s"}, {1e-3, "k/s"}, {1, "/s"}, {60, "/min"}};
  Unit unit{3600, "/h"};
  for (const Unit& candidate : units) {
    // 0.9995 would be printed as 1.00 of the unit: it belongs to it.
    if (per_second * candidate.scale >= 0.9995) {
      unit = candidate;
      break;
    }
  }
  const double value = per_second * unit.scale;
  const int decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
  return fmt::format("{:.{}f}{}", value, decimals, unit.name);
}

std::string duration_text(double seconds) {
  const auto whole = static_cast<int64_t>(std::llround(std::clamp(seconds, 0.0, 1e15)));
  const int64_t days = whole / 86400, hours = whole / 3600 % 24, minutes = whole / 60 % 60;
  if (days > 0) return fmt::format("{}d {:02}:{:02}:{:02}", days, hours, minutes, whole % 60);
  if (hours > 0) return fmt::format("{}:{:02}:{:02}", hours, minutes, whole % 60);
  return fmt::format("{}:{:02}", minutes, whole % 60);
}

std::string progress_line(const ProgressState& state, int columns) {
  const double rate =
      state.seconds > 0 ? static_cast<double>(state.done - state.start) / state.seconds : 0;
  const double fraction =
      state.total > 0 ? std::clamp(static_cast<double>(state.done) / state.total, 0.0, 1.0) : 0;

  const std::string head =
      state.total > 0 ? fmt::format("{} {:3}% ", state.label, static_cast<int>(fraction * 100))
                      : fmt::format("{}  ", state.label);
  // As wide as the total, so that the line does not shift while it counts.
  const std::string total = fmt::format("{}", state.total);
  const std::string count = state.total > 0
                                ? fmt::format("{:>{}}/{}", state.done, total.size(), total)
                                : fmt::format("{}", state.done);
  std::string pace = rate > 0 ? "  " + rate_text(rate) : "";
  if (state.total <= 0 || state.done >= state.total)
    pace += "  " + duration_text(state.seconds);
  else if (rate > 0)
    pace += "  eta " + duration_text(static_cast<double>(state.total - state.done) / rate);
  const std::string note = state.note.empty() ? "" : "  " + state.note;

  std::string line = head + count + pace + note;
  if (columns == 0) return line;
  if (state.total > 0) {
    const int bar = std::min(kWidestBar, columns - width_of(line) - width_of("[] "));
    if (bar >= kNarrowestBar) line.insert(head.size(), bar_of(fraction, bar));
  }
  if (width_of(line) > columns) line = head + count + pace;
  if (width_of(line) > columns && state.total > 0 && pace.size() > 2) line = head + pace.substr(2);
  return cut_to(line, columns);
}

ProgressDisplay ProgressDisplay::detect() {
  ProgressDisplay display;
  display.terminal = log::level() != log::Level::quiet && stderr_is_terminal();
  return display;
}

Progress::Progress(std::string label, int64_t total, int64_t start, const ProgressDisplay& display)
    : state_{.label = std::move(label), .done = start, .total = total, .start = start},
      display_(display),
      began_(Clock::now()),
      shown_(began_) {
  if (!display_.terminal) return;
  const std::lock_guard lock(screen().mutex);
  screen().bars.push_back(this);
  log::set_before_line(make_way_for_log_line);
}

Progress::~Progress() {
  if (!display_.terminal) return;
  Screen& here = screen();
  const std::lock_guard lock(here.mutex);
  const bool shown = here.bars.back() == this;
  here.bars.erase(std::find(here.bars.begin(), here.bars.end(), this));
  if (!shown) return;
  if (here.bars.empty()) {
    draw();
    std::fputc('\n', stderr);
    here.line_in_use = false;
    log::set_before_line(nullptr);
  } else {
    here.wipe();
  }
}

void Progress::advance(int64_t n) {
  const std::lock_guard lock(screen().mutex);
  state_.done += n;
  show();
}

void Progress::note(std::string text) {
  const std::lock_guard lock(screen().mutex);
  state_.note = std::move(text);
  show();
}

void Progress::show() {
  const double wait = display_.terminal ? display_.redraw_seconds : display_.log_seconds;
  const Clock::time_point now = Clock::now();
  if (std::chrono::duration<double>(now - shown_).count() < wait) return;
  if (!display_.terminal) {
    state_.seconds = std::chrono::duration<double>(now - began_).count();
    log::info("{}", progress_line(state_, 0));
  } else if (screen().bars.back() == this) {
    draw();
  }
  shown_ = now;
}

void Progress::draw() {
  state_.seconds = std::chrono::duration<double>(Clock::now() - began_).count();
  // The last column stays free: writing into it wraps the line on some terminals.
  const std::string line = "\r" + progress_line(state_, terminal_columns() - 1) + "\x1b[K";
  std::fputs(line.c_str(), stderr);
  std::fflush(stderr);
  screen().line_in_use = true;
}

}  // namespace tessera
