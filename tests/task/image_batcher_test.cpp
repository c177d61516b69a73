#include "task/image_batcher.h"

#include <tessera/base/error.h>

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <set>

namespace tessera::task {
namespace {

// Ten images of 2 x 3 pixels. In image k, the pixels of column c have the value 10 k + c.
image::Split ten_images() {
  const at::Tensor value = (at::arange(10) * 10).view({10, 1, 1, 1});
  const at::Tensor column = at::arange(3).view({1, 1, 1, 3});
  return image::Split((value + column).expand({10, 1, 2, 3}).to(at::kByte).contiguous(),
                      at::arange(10));
}

TEST(ImageBatcher, AnEpochHasEveryImageOnce) {
  const image::Split split = ten_images();
  const ImageBatcher batcher(split, {.batch = 5, .flip = false, .classes = true}, 1);
  EXPECT_EQ(batcher.batches(), 2);
  std::set<int64_t> seen;
  for (int64_t number = 0; number < 2; ++number) {
    const nn::Inputs inputs = batcher.batch(0, number);
    EXPECT_EQ(inputs[0].sizes(), (std::vector<int64_t>{5, 2, 3, 1}));
    for (int64_t i = 0; i < 5; ++i) {
      const auto label = inputs[1][i].item<int64_t>();
      EXPECT_EQ(inputs[0][i][0][0][0].item<int64_t>(), 10 * label) << "a label of another image";
      seen.insert(label);
    }
  }
  EXPECT_EQ(seen.size(), 10u);
}

TEST(ImageBatcher, IsAFunctionOfSeedAndEpoch) {
  const image::Split split = ten_images();
  const ImageBatcher first(split, {.batch = 4}, 1), second(split, {.batch = 4}, 1);
  const ImageBatcher other(split, {.batch = 4}, 2);
  const at::Tensor later = first.batch(3, 1)[0];
  first.batch(0, 0);
  EXPECT_TRUE(at::equal(second.batch(3, 1)[0], later));
  EXPECT_FALSE(at::equal(other.batch(3, 1)[0], later));
  EXPECT_FALSE(at::equal(second.batch(4, 1)[0], later));
}

TEST(ImageBatcher, RefusesBatchesThatThereAreNot) {
  const image::Split split = ten_images();
  const ImageBatcher batcher(split, {.batch = 4}, 1);
  for (const auto& [epoch, number] : std::vector<std::pair<int64_t, int64_t>>{
           {0, 2}, {0, -1}, {-1, 0}, {0, int64_t{1} << 40}, {0, INT64_MAX}})
    EXPECT_THROW(batcher.batch(epoch, number), Error) << epoch << " " << number;
}

TEST(ImageBatcher, TurnsHalfOfTheImages) {
  const image::Split split = ten_images();
  const ImageBatcher batcher(split, {.batch = 10}, 1);
  int64_t turned = 0;
  for (int64_t epoch = 0; epoch < 50; ++epoch) {
    const at::Tensor images = batcher.batch(epoch, 0)[0];
    for (int64_t i = 0; i < 10; ++i) {
      const int64_t left = images[i][0][0][0].item<int64_t>();
      const int64_t right = images[i][0][2][0].item<int64_t>();
      EXPECT_EQ(std::abs(left - right), 2);
      turned += left > right;
    }
  }
  EXPECT_NEAR(turned, 250, 50);
}

TEST(ImageBatcher, RefusesBatchesThatCannotBeFilled) {
  const image::Split split = ten_images();
  EXPECT_THROW(ImageBatcher(split, {.batch = 11}, 1), UsageError);
  const image::Split unlabelled(split.images(), {});
  EXPECT_THROW(ImageBatcher(unlabelled, {.batch = 2, .classes = true}, 1), UsageError);
}

}  // namespace
}  // namespace tessera::task
