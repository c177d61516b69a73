#include "task/image_batcher.h"

#include "base/require.h"

#include <tessera/tensor/random.h>

#include <ATen/ATen.h>

#include <numeric>

namespace tessera::task {

at::Tensor channels_last(const at::Tensor& images) {
  return images.permute({0, 2, 3, 1}).contiguous();
}

ImageBatcher::ImageBatcher(const image::Split& split, const ImageBatcherOptions& options,
                           uint64_t seed)
    : images_(split.images()),
      mirrored_(split.mirrored()),
      labels_(split.labels()),
      options_(options),
      seed_(seed) {
  require_option(options.batch <= split.size(),
                 "a batch of {} images is more than the {} there are: lower data.batch",
                 options.batch, split.size());
  require_option(!options.classes || labels_.defined(), "the images have no classes");
}

int64_t ImageBatcher::batches() const {
  return images_.size(0) / options_.batch;
}

nn::Inputs ImageBatcher::batch(int64_t epoch, int64_t number) const {
  require(epoch >= 0 && number >= 0 && number < batches(),
          "an epoch has {} batches, there is no number {} of epoch {}", batches(), number, epoch);
  if (epoch != epoch_) {
    RandomStream stream({seed_, Purpose::data_order, static_cast<uint64_t>(epoch)});
    order_.resize(static_cast<size_t>(images_.size(0)));
    std::iota(order_.begin(), order_.end(), 0);
    for (size_t i = order_.size() - 1; i > 0; --i)
      std::swap(order_[i], order_[stream.below(i + 1)]);
    if (options_.flip)
      for (int64_t& image : order_)
        if (stream.bits() & 1) image = -1 - image;
    epoch_ = epoch;
  }
  std::vector<int64_t> chosen(static_cast<size_t>(options_.batch));
  std::vector<uint8_t> turned(chosen.size());
  for (size_t i = 0; i < chosen.size(); ++i) {
    const int64_t image = order_[static_cast<size_t>(number * options_.batch) + i];
    turned[i] = image < 0;
    chosen[i] = image < 0 ? -1 - image : image;
  }
  const at::Tensor rows = at::tensor(chosen, at::kLong);
  at::Tensor pictures = images_.index_select(0, rows);
  if (options_.flip) {
    const at::Tensor mirrored = at::tensor(turned, at::kByte).to(at::kBool).view({-1, 1, 1, 1});
    pictures = at::where(mirrored,
                         mirrored_.defined() ? mirrored_.index_select(0, rows) : pictures.flip(3),
                         pictures);
  }
  nn::Inputs inputs{channels_last(pictures)};
  if (options_.classes) inputs.push_back(labels_.index_select(0, rows));
  return inputs;
}

}  // namespace tessera::task
