#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

namespace tessera::report {

// A moment of a sample.
struct FilmFrame {
  double t = 0;      // of T
  at::Tensor noisy;  // [C, H, W] uint8: what the network was given, as a picture
  at::Tensor seen;   // [C, H, W] uint8: what it saw in it
};

// A page that plays the frames: how pictures condense out of noise. One file, no others needed.
//   title  names the model;  details  a line about how it was sampled
std::string film_page(const std::vector<FilmFrame>& frames, const std::string& title,
                      const std::string& details);

}  // namespace tessera::report
