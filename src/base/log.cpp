#include "base/log.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/sink.h"
#include "base/visible_text.h"

namespace tessera {
namespace {

// Never destroyed: destructors of other static objects may still log.
Sink<LogLine>& log_sink() {
  static auto* const instance = new Sink<LogLine>;
  return *instance;
}

}  // namespace

void set_log_sink(LogSink function) {
  log_sink().set(std::move(function));
}

void log::detail::write(Severity severity, fmt::string_view format, fmt::format_args args) {
  if (!log_sink().is_set()) return;
  log_sink().call({severity, visible(fmt::vformat(format, args)), {}});
}

void log::fields(std::vector<std::string> all) {
  if (!log_sink().is_set()) return;
  for (std::string& field : all) field = visible(field);
  std::string text = fmt::format("{}", fmt::join(all, "  "));
  log_sink().call({Severity::info, std::move(text), std::move(all)});
}

}  // namespace tessera
