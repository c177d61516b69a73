#pragma once

#include <tessera/base/error.h>

namespace tessera {

// What a codebook says whose estimates are no points: there are no paths out of its cells.
[[noreturn]] inline void refuse_paths() {
  throw Error(
      "symbols that a network answers with a number for each have no cells: paths need another "
      "coding, such as bits");
}

}  // namespace tessera
