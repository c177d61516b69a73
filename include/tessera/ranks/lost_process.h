#pragma once

#include <tessera/base/error.h>

#include <string>
#include <utility>

namespace tessera {

// Another process of a training has gone, or does not answer. A restart of all of them goes on from
// the newest checkpoint.
class LostProcess : public Error {
 public:
  explicit LostProcess(std::string message)
      : Error(std::move(message),
              "start all processes again with --or-resume: the run goes on from its newest "
              "checkpoint (`torchrun --max-restarts N` does so by itself)") {}
};

}  // namespace tessera
