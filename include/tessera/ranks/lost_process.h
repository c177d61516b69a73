#pragma once

#include <tessera/base/error.h>

#include <string>
#include <utility>

namespace tessera {

// Another process of a training has gone, does not answer, or never came. Starting all of them
// again may cure it: the run then goes on from its newest checkpoint.
class LostProcess : public Error {
 public:
  using Error::Error;
};

}  // namespace tessera
