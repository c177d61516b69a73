#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tessera {

// A step of one request as text: how its candidates condense out of noise.
struct TextStepView {
  struct Piece {
    std::string text;      // of a symbol of the estimate: a word or a part of one; empty: no text
    std::string noisy;     // of the symbol the noisy point itself decodes to; a mask is "□"
    bool changed = false;  // differs from the estimate of the step before
    bool outside = false;  // the noisy point decodes to another symbol than the estimate
    bool glued = false;    // no blank stands before it
  };

  int64_t step = 0;   // from 1
  int64_t calls = 0;  // network calls when all steps are done
  double t = 0;       // the time told to the network, from T (noise) down to 0
  std::vector<std::vector<Piece>> candidates = {};  // in the order of TextResult::candidates
};

}  // namespace tessera
