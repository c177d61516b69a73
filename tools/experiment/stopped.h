#pragma once

#include <exception>

namespace tessera::experiment {

// Thrown by what a stop token has stopped: not an error.
class Stopped : public std::exception {
 public:
  const char* what() const noexcept override { return "the experiment was stopped"; }
};

}  // namespace tessera::experiment
