#include "text_chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <vector>

namespace tessera::app {
namespace {

constexpr std::array<std::string_view, 8> kHeights{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
constexpr std::array<std::string_view, 8> kWidths{"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};

// A bar of `eighths` of a character, filled up with blanks to `width` characters.
std::string bar(int64_t eighths, int width) {
  std::string text;
  for (int64_t k = 0; k < eighths / 8; ++k) text += "█";
  const std::string_view rest = kWidths[static_cast<size_t>(eighths % 8)];
  text += rest;
  const int64_t used = eighths / 8 + (rest.empty() ? 0 : 1);
  return text + std::string(static_cast<size_t>(std::max<int64_t>(width - used, 0)), ' ');
}

// Means of neighbours, so that at most `count` values are left.
std::vector<double> thinned(const std::vector<double>& values, size_t count) {
  if (values.size() <= count) return values;
  std::vector<double> result;
  for (size_t k = 0; k < count; ++k) {
    const size_t begin = k * values.size() / count, end = (k + 1) * values.size() / count;
    double sum = 0;
    for (size_t i = begin; i < end; ++i) sum += values[i];
    result.push_back(sum / static_cast<double>(end - begin));
  }
  return result;
}

}  // namespace

std::string byte_count(uint64_t bytes) {
  constexpr std::array<std::string_view, 4> kUnits{"KiB", "MiB", "GiB", "TiB"};
  if (bytes < 1024) return fmt::format("{} bytes", bytes);
  double size = static_cast<double>(bytes) / 1024;
  size_t unit = 0;
  for (; size >= 1024 && unit + 1 < kUnits.size(); ++unit) size /= 1024;
  return fmt::format("{:.1f} {}", size, kUnits[unit]);
}

std::string percent(double share) {
  return fmt::format("{:.1f} %", 100 * share);
}

std::string histogram_bars(std::span<const double> shares, int width) {
  double largest = 0;
  for (const double share : shares) largest = std::max(largest, share);
  std::string text;
  for (size_t k = 0; k < shares.size(); ++k) {
    const double part = largest > 0 ? shares[k] / largest : 0;
    text += fmt::format("  {:.2f}  {} {:>7}\n",
                        static_cast<double>(k) / static_cast<double>(shares.size()),
                        bar(std::lround(part * 8 * width), width), percent(shares[k]));
  }
  return text;
}

std::string sparkline(std::span<const double> values, int width) {
  std::vector<double> finite;
  for (const double value : values)
    if (std::isfinite(value)) finite.push_back(value);
  if (finite.empty()) return "";
  finite = thinned(finite, static_cast<size_t>(width));
  const auto [low, high] = std::minmax_element(finite.begin(), finite.end());
  const double bottom = *low, range = *high - *low;
  std::string text;
  for (const double value : finite) {
    const double part = range > 0 ? (value - bottom) / range : 0;
    text += kHeights[static_cast<size_t>(std::lround(part * 7))];
  }
  return text;
}

}  // namespace tessera::app
