#pragma once

#include <exception>

namespace tessera::experiment {

// Thrown when a stop token has stopped the work: not an error.
class Stopped : public std::exception {
 public:
  const char* what() const noexcept override { return "the experiment was stopped"; }
};

}  // namespace tessera::experiment
