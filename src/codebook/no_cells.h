#pragma once

#include <tessera/base/error.h>

namespace tessera {

// The error of codebooks for which networks give logits, not points: without cells there are no
// paths out of them.
[[noreturn]] inline void refuse_paths() {
  throw Error(
      "this coding has no cells, because a network gives a number for every symbol: paths need "
      "another coding, such as bits");
}

}  // namespace tessera
