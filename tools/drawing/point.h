#pragma once

namespace tessera::drawing {

struct Point {
  double x = 0, y = 0;
};

}  // namespace tessera::drawing
