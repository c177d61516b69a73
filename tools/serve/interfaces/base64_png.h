#pragma once

#include "image/png.h"

#include <tessera/engine/images.h>

#include <cstdint>
#include <string>

namespace tessera::serve {

// One of the images, as a PNG in base64. Computes without tensors: every thread of a connection
// that did would get worker threads of its own.
inline std::string base64_png(const Images& images, int64_t place) {
  const std::string uri =
      image::png_data_uri(image::Pixels{.values = {images.image(place), images.image(place + 1)},
                                        .height = images.height,
                                        .width = images.width,
                                        .channels = images.channels});
  return uri.substr(uri.find(',') + 1);
}

}  // namespace tessera::serve
