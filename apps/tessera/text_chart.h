#pragma once

#include "base/numerals.h"

#include <cstdint>
#include <span>
#include <string>

// Numbers for people, in a terminal.
namespace tessera::app {

std::string byte_count(uint64_t bytes);  // 3.5 MiB
std::string percent(double share);       // 12.3 %

// One line per bin of [0, 1], with its share as a bar: "0.95  ████████▌  13.4 %". The longest bar
// has `width` characters.
std::string histogram_bars(std::span<const double> shares, int width = 40);

// The course of some values as blocks of eight heights, at most `width` of them: neighbours are
// averaged if there are more values. Values that are not finite are left out.
std::string sparkline(std::span<const double> values, int width = 60);

}  // namespace tessera::app
