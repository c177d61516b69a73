#pragma once

#include <tessera/base/log_sink.h>

#include <string>
#include <vector>

namespace tessera::app {

constexpr int kLogColumns = 100;  // of a line of the log, with the time at its beginning

// "step 200", "loss 1.23", ... two blanks apart. Fields beyond kLogColumns go on the next line,
// indented like the text.
std::string wrapped_fields(const std::vector<std::string>& fields);

// A line of the log after its time, coloured if stderr shows colours: "warn: 3 pairs are empty".
std::string log_text(const LogLine& line);

}  // namespace tessera::app
