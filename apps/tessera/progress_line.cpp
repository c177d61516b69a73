#include "progress_line.h"

#include "base/numerals.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace tessera::app {
namespace {

constexpr int kWidestBar = 30;
constexpr int kNarrowestBar = 6;

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
    // 0.9995 is printed as 1.00 of this unit, so it belongs to it.
    if (per_second * candidate.scale >= 0.9995) {
      unit = candidate;
      break;
    }
  }
  const double value = per_second * unit.scale;
  const int decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
  return fmt::format("{:.{}f}{}", value, decimals, unit.name);
}

std::string progress_line(const ProgressEvent& event, int columns) {
  const double rate =
      event.seconds > 0 ? static_cast<double>(event.done - event.start) / event.seconds : 0;
  const double fraction =
      event.total > 0 ? std::clamp(static_cast<double>(event.done) / event.total, 0.0, 1.0) : 0;

  const std::string head =
      event.total > 0 ? fmt::format("{} {:3}% ", event.label, static_cast<int>(fraction * 100))
                      : fmt::format("{}  ", event.label);
  // As wide as the total, so that the line does not shift while it counts.
  const std::string total = fmt::format("{}", event.total);
  const std::string count = event.total > 0
                                ? fmt::format("{:>{}}/{}", event.done, total.size(), total)
                                : fmt::format("{}", event.done);
  std::string pace = rate > 0 ? "  " + rate_text(rate) : "";
  if (event.total <= 0 || event.done >= event.total)
    pace += "  " + duration_text(event.seconds);
  else if (rate > 0)
    pace += "  eta " + duration_text(static_cast<double>(event.total - event.done) / rate);
  const std::string note = event.note.empty() ? "" : "  " + event.note;

  std::string line = head + count + pace + note;
  if (columns == 0) return line;
  if (event.total > 0) {
    const int bar = std::min(kWidestBar, columns - width_of(line) - width_of("[] "));
    if (bar >= kNarrowestBar) line.insert(head.size(), bar_of(fraction, bar));
  }
  if (width_of(line) > columns) line = head + count + pace;
  if (width_of(line) > columns && event.total > 0 && pace.size() > 2) line = head + pace.substr(2);
  return cut_to(line, columns);
}

}  // namespace tessera::app
