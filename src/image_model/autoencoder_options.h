#pragma once

#include "config/config.h"
#include "image_model/quantiser.h"

namespace tessera::image_model {

// Everything that makes an autoencoder what it is: stored beside its weights.
struct AutoencoderOptions {
  int64_t width = 128;       // channels
  int64_t halvings = 2;      // of the side of a picture: 32 x 32 pixels become 8 x 8 codes
  int64_t blocks = 2;        // residual blocks at every size, on the way in and out
  double commitment = 0.25;  // weight of the points' distance to their codes
  QuantiserOptions quantiser = {};
};

// Keys "model.*".
void declare(config::Schema& schema, AutoencoderOptions& options);

}  // namespace tessera::image_model
