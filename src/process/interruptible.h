#pragma once

#include <tessera/process/sampler.h>

#include <functional>
#include <utility>

namespace tessera {

// A denoiser that calls `pause`, if given, before each of its calls. An exception from `pause` ends
// the sampling.
inline Denoiser interruptible(Denoiser network, std::function<void()> pause) {
  if (!pause) return network;
  return [network = std::move(network), pause = std::move(pause)](
             const at::Tensor& x, const at::Tensor& t, const at::Tensor& previous) {
    pause();
    return network(x, t, previous);
  };
}

}  // namespace tessera
