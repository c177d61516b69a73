#pragma once

#include <tessera/base/error.h>

namespace tessera {

// A device has no memory left for a batch. A smaller one may fit.
class TESSERA_API OutOfMemory : public Error {
 public:
  using Error::Error;
};

}  // namespace tessera
