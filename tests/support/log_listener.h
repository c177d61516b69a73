#pragma once

#include <tessera/base/log_sink.h>

#include <functional>
#include <string>

namespace tessera::test {

inline const char* severity_name(Severity severity) {
  switch (severity) {
    case Severity::debug:
      return "debug: ";
    case Severity::warning:
      return "warn: ";
    case Severity::error:
      return "error: ";
    default:
      return "";
  }
}

// Collects what the library logs while this object exists.
class LogListener {
 public:
  LogListener() {
    set_log_sink(
        [this](const LogLine& line) { text_ += severity_name(line.severity) + line.text + '\n'; });
  }
  ~LogListener() { set_log_sink({}); }
  LogListener(const LogListener&) = delete;
  LogListener& operator=(const LogListener&) = delete;

  // The messages so far, one per line: "warn: 3 pairs are empty". Call it only when nothing logs.
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

// What the library logs during `act`.
inline std::string said(const std::function<void()>& act) {
  const LogListener listener;
  act();
  return listener.text();
}

}  // namespace tessera::test
