#include "console.h"

#include "base/visible_text.h"
#include "log_text.h"
#include "progress_line.h"
#include "terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <ctime>

namespace tessera::app {
namespace {

int terminal_columns() {
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

// "[2026-11-15 10:12:01] ", local.
std::string time_text() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  localtime_r(&now, &parts);
  char text[32];
  return {text, std::strftime(text, sizeof text, "[%Y-%m-%d %H:%M:%S] ", &parts)};
}

void write_out(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

}  // namespace

Console::Console() : display_{.terminal = stderr_is_terminal()} {}

void Console::set_level(Level level) {
  const std::lock_guard lock(mutex_);
  level_ = level;
}

void Console::speak_as(const std::string& name) {
  const std::lock_guard lock(mutex_);
  name_ = "[" + name + "] ";
}

std::string Console::name() const {
  const std::lock_guard lock(mutex_);
  return name_;
}

void Console::listen() {
  set_log_sink([this](const LogLine& line) { log(line); });
  set_progress_sink([this](const ProgressEvent& event) { progress(event); });
}

bool Console::is_said(Severity severity) const {
  switch (level_) {
    case Level::debug:
      return true;
    case Level::normal:
      return severity != Severity::debug;
    case Level::quiet:
      return severity == Severity::warning || severity == Severity::error;
  }
  return true;
}

void Console::log(const LogLine& line) {
  const std::lock_guard lock(mutex_);
  if (is_said(line.severity)) write_line(log_text(line));
}

void Console::write_line(const std::string& text) {
  wipe();
  write_out(time_text() + name_ + text + '\n');
}

void Console::wipe() {
  if (!line_in_use_) return;
  write_out("\r\x1b[K");
  line_in_use_ = false;
}

void Console::progress(const ProgressEvent& event) {
  const std::lock_guard lock(mutex_);
  if (level_ == Level::quiet) return;
  if (event.phase == ProgressEvent::Phase::began) {
    works_.push_back({event.work, Clock::now()});
    return;
  }
  const auto work = std::find_if(works_.begin(), works_.end(),
                                 [&](const Work& each) { return each.number == event.work; });
  if (work == works_.end()) return;
  if (event.phase == ProgressEvent::Phase::advanced) return show(*work, event);
  const bool innermost = work + 1 == works_.end();
  works_.erase(work);
  if (!display_.terminal || !innermost) return;
  if (!works_.empty()) return wipe();
  draw(event);
  write_out("\n");
  line_in_use_ = false;
}

void Console::show(Work& work, const ProgressEvent& event) {
  const double wait = display_.terminal ? display_.redraw_seconds : display_.log_seconds;
  const Clock::time_point now = Clock::now();
  if (std::chrono::duration<double>(now - work.shown).count() < wait) return;
  if (!display_.terminal)
    write_line(visible(progress_line(event, 0)));
  else if (&work == &works_.back())
    draw(event);
  work.shown = now;
}

void Console::draw(const ProgressEvent& event) {
  // The last column stays free: writing into it wraps the line on some terminals.
  write_out("\r" + progress_line(event, terminal_columns() - 1) + "\x1b[K");
  line_in_use_ = true;
}

}  // namespace tessera::app
