#include "image/grid.h"

#include "image/made_images.h"
#include "support/complaint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tessera::image {
namespace {

using test::complaint;
using testing::HasSubstr;

TEST(Grid, PutsImagesRowByRow) {
  const at::Tensor images = at::arange(3, at::kByte).reshape({3, 1, 1, 1});
  const at::Tensor expected =
      at::tensor({255, 255, 255, 255, 255, 255, 0,   255, 1,   255, 255, 255, 255,
                  255, 255, 255, 2,   255, 255, 255, 255, 255, 255, 255, 255},
                 at::kByte)
          .reshape({1, 5, 5});
  EXPECT_TRUE(at::equal(grid(images, 2, 1), expected));
}

TEST(Grid, MakesSquaresOfPixels) {
  const at::Tensor image = test::made_images({1, 3, 2, 2});
  const at::Tensor picture = grid(image, 1, 0, 3);
  ASSERT_EQ(picture.sizes(), (std::vector<int64_t>{3, 6, 6}));
  for (int64_t y = 0; y < 6; ++y)
    for (int64_t x = 0; x < 6; ++x)
      EXPECT_TRUE(
          at::equal(picture.select(1, y).select(1, x), image[0].select(1, y / 3).select(1, x / 3)));
}

TEST(Grid, IsNoWiderThanItsImages) {
  EXPECT_EQ(grid(test::made_images({2, 1, 4, 5}), 10, 2).sizes(), (std::vector<int64_t>{1, 8, 16}));
}

TEST(Grid, TellsWhatItCannotDraw) {
  EXPECT_THAT(complaint([] {
                grid(at::zeros({0, 1, 2, 2}, at::kByte), 1);
              }),
              HasSubstr("[0, 1, 2, 2]"));
  EXPECT_THAT(complaint([] { grid(at::zeros({1, 2, 2}, at::kByte), 1); }), HasSubstr("[1, 2, 2]"));
  EXPECT_THAT(complaint([] { grid(at::zeros({1, 1, 2, 2}), 1); }), HasSubstr("images"));
  EXPECT_THAT(complaint([] { grid(at::zeros({1, 1, 2, 2}, at::kByte), 0); }), HasSubstr("column"));
}

}  // namespace
}  // namespace tessera::image
