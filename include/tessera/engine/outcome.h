#pragma once

namespace tessera {

// What became of a request.
enum class Outcome {
  done,
  stopped,  // its stop token asked for it
  failed,   // its `failure` says why
};

}  // namespace tessera
