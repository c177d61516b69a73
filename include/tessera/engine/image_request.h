#pragma once

#include <tessera/base/api.h>
#include <tessera/engine/images.h>
#include <tessera/engine/outcome.h>
#include <tessera/engine/sample_options.h>
#include <tessera/process/sampler.h>

#include <cstdint>
#include <exception>
#include <functional>
#include <stop_token>
#include <string>

namespace tessera {

// A step of the sampler, for the images of one request that are made together.
struct ImageStep {
  SampleStep sample;  // of these images alone: x [n, H, W, C, d], labels [n, H, W, C], ...
  int64_t first = 0;  // number of the first of them
  int64_t calls = 0;  // network calls when all steps are done
};

// Images number first, ..., first + count - 1. Image n is a function of (seed, n), up to rounding.
struct ImageRequest {
  int64_t count = 1;
  int64_t first = 0;
  std::string label = {};  // a class by name or number; empty: all in turn, if there are any
  uint64_t seed = 1;
  SampleOptions options = {};
  std::stop_token stop = {};
  // Called for every step, which slows it down. What it throws is the request's failure.
  std::function<void(const ImageStep&)> on_step = {};
  // Receives the images some at a time, in order, so that memory does not limit their number; the
  // result then holds none. What it throws is the request's failure.
  std::function<void(const Images& some)> take = {};
};

struct TESSERA_API ImageResult {
  Outcome outcome = Outcome::done;
  std::exception_ptr failure = {};  // if it failed
  Images images = {};               // unless the request takes them itself
  int64_t nfe = 0;                  // network calls per image

  // Throws the failure, or Error if it was stopped.
  void require_done() const;
};

}  // namespace tessera
