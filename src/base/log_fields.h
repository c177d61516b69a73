#pragma once

#include <string>
#include <vector>

namespace tessera::log {

constexpr int kColumns = 100;  // of a line of the log, with the time at its beginning

// "step 200", "loss 1.23", ... as the text of a log line, two blanks apart. What would reach beyond
// kColumns goes on in a line below, indented as far as the text.
std::string fields(const std::vector<std::string>& all);

}  // namespace tessera::log
