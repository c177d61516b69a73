#pragma once

#include <tessera/base/api.h>

#include <functional>
#include <string>
#include <vector>

namespace tessera {

// How much a line of the log matters.
enum class Severity {
  debug,
  info,
  highlight,  // what a person waits for: the best score so far
  warning,
  error,
};

// A line of the log. It is safe to print on a terminal: control characters are escaped ("\x1b").
struct LogLine {
  Severity severity = Severity::info;
  std::string text;                 // without a time; may have several lines
  std::vector<std::string> fields;  // if the line is a list: "step 200", "loss 1.23"
};

// Takes lines of the log, one at a time, in the thread that logs. It must not throw, and must not
// call set_log_sink().
using LogSink = std::function<void(const LogLine&)>;

// Where the log of the library goes, for the whole process. None: the library is silent, as it is
// at the start. Once this returns, the former sink is not called any more.
TESSERA_API void set_log_sink(LogSink sink);

}  // namespace tessera
