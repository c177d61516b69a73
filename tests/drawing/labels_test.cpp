#include "drawing/labels.h"

#include <gtest/gtest.h>

namespace tessera::drawing {
namespace {

TEST(Labels, StandAboveThenBelowThenNowhere) {
  Svg svg;
  Labels labels(200, 100);
  EXPECT_TRUE(labels.place(svg, {100, 50}, "first"));
  EXPECT_TRUE(labels.place(svg, {104, 50}, "second"));
  EXPECT_FALSE(labels.place(svg, {96, 50}, "third"));
  EXPECT_NE(svg.body().find(">first<"), std::string::npos);
  EXPECT_NE(svg.body().find("y=\"40\""), std::string::npos);
  EXPECT_NE(svg.body().find(">second<"), std::string::npos);
  EXPECT_NE(svg.body().find("y=\"69\""), std::string::npos);
  EXPECT_EQ(svg.body().find("third"), std::string::npos);
}

TEST(Labels, DoNotDisturbOthersFarAway) {
  Svg svg;
  Labels labels(200, 100);
  EXPECT_TRUE(labels.place(svg, {40, 50}, "left"));
  EXPECT_TRUE(labels.place(svg, {160, 50}, "right"));
  EXPECT_EQ(svg.body().find("y=\"69\""), std::string::npos);
}

TEST(Labels, StayWithinTheDrawing) {
  Svg svg;
  Labels labels(200, 100);
  EXPECT_FALSE(labels.place(svg, {2, 50}, "too far left"));
  EXPECT_TRUE(labels.place(svg, {100, 5}, "below"));  // above it would leave the drawing
  EXPECT_NE(svg.body().find("y=\"24\""), std::string::npos);
}

}  // namespace
}  // namespace tessera::drawing
