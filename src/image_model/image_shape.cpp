#include "image_model/image_shape.h"

#include "base/require.h"

namespace tessera::image_model {
namespace {

constexpr int64_t kLongestSide = 1 << 15, kMostChannels = 64, kMostSymbols = 1 << 15;

bool within(int64_t size, int64_t largest) {
  return 1 <= size && size <= largest;
}

}  // namespace

void check_size(const ImageShape& shape) {
  require_option(within(shape.height, kLongestSide) && within(shape.width, kLongestSide) &&
                     within(shape.channels, kMostChannels),
                 "there are no images of {} x {} pixels and {} colours", shape.width, shape.height,
                 shape.channels);
  require_option(2 <= shape.symbols && shape.symbols <= kMostSymbols,
                 "there are no images of {} symbols", shape.symbols);
}

}  // namespace tessera::image_model
