#pragma once

#include <cstdint>
#include <vector>

namespace tessera {

// Images of one size, one after the other.
struct Images {
  int64_t count = 0, height = 0, width = 0, channels = 0;
  std::vector<uint8_t> values;  // [count, height, width, channels]: row by row, RGB or grey

  const uint8_t* image(int64_t i) const { return values.data() + i * height * width * channels; }
};

}  // namespace tessera
