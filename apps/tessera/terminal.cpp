#include "terminal.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>

namespace tessera::app {
namespace {

std::string_view code_of(Paint paint) {
  switch (paint) {
    case Paint::bold:
      return "1";
    case Paint::yellow:
      return "33";
    case Paint::red:
      return "31";
  }
  return "";
}

}  // namespace

bool stderr_is_terminal() {
  const char* kind = std::getenv("TERM");
  return isatty(STDERR_FILENO) == 1 && kind != nullptr && std::string_view(kind) != "dumb";
}

bool stderr_shows_colours() {
  const char* refused = std::getenv("NO_COLOR");
  return stderr_is_terminal() && (refused == nullptr || *refused == '\0');
}

std::string painted(Paint paint, std::string_view text) {
  if (!stderr_shows_colours()) return std::string(text);
  return fmt::format("\x1b[{}m{}\x1b[0m", code_of(paint), text);
}

}  // namespace tessera::app
