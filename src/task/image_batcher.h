#pragma once

#include "image/dataset.h"
#include "nn/trainable.h"

#include <cstdint>
#include <vector>

namespace tessera::task {

struct ImageBatcherOptions {
  int64_t batch = 128;
  bool flip = true;      // mirror half of the images, left to right
  bool classes = false;  // batches include the labels
};

// Batches of a split of images, epoch after epoch. Which images are in which batch, and which are
// mirrored, is a function of (seed, epoch). Images that do not fill a batch wait for another epoch.
// It remembers the order of the epoch that was asked for last, so it belongs to one thread.
class ImageBatcher {
 public:
  // Throws UsageError if the split has fewer images than a batch, or lacks labels that were asked
  // for.
  ImageBatcher(const image::Split& split, const ImageBatcherOptions& options, uint64_t seed);

  int64_t batches() const;
  // Pictures [batch, H, W, C] uint8, or codes likewise of int16, and labels [batch] int64 if
  // they were asked for.
  nn::Inputs batch(int64_t epoch, int64_t number) const;

 private:
  at::Tensor images_, mirrored_, labels_;  // mirrored_: for codes, which cannot be turned
  ImageBatcherOptions options_;
  uint64_t seed_;
  mutable int64_t epoch_ = -1;
  mutable std::vector<int64_t> order_;  // of the epoch; -1 - n stands for the mirrored image n
};

// Images [n, C, H, W] as an image model takes them: [n, H, W, C].
at::Tensor channels_last(const at::Tensor& images);

}  // namespace tessera::task
