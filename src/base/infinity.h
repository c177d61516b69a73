#pragma once

#include <limits>

namespace tessera {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace tessera
