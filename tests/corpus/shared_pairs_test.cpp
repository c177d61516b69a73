#include "corpus/shared_pairs.h"

#include <gtest/gtest.h>

namespace tessera::corpus {
namespace {

TEST(SharedPairs, AreCountedBySplitWithAnExample) {
  SharedPairs pairs;
  pairs.hold_out("valid", "eins", "one");
  pairs.hold_out("test", "zwei", "two");
  pairs.hold_out("test", "drei", "three");
  pairs.hold_out("test", "vier", "four");
  pairs.hold_out("test", "drei", "three");
  pairs.train(1, "fünf", "five");
  pairs.train(2, "drei", "three");
  pairs.train(3, "drei", "three");
  pairs.train(4, "zwei", "three");  // another pair
  const SharedPairs::Found test = pairs.in("test");
  EXPECT_EQ(test.pairs, 4);
  EXPECT_EQ(test.shared, 2);
  EXPECT_EQ(test.line, 2);
  EXPECT_EQ(test.training_line, 2);
  EXPECT_EQ(pairs.in("valid").shared, 0);
  EXPECT_EQ(pairs.in("train").pairs, 0);
}

TEST(SharedPairs, KnowWhereOneSideEndsAndTheOtherBegins) {
  SharedPairs pairs;
  pairs.hold_out("test", "ab", "c");
  pairs.hold_out("test", "", "");
  pairs.train(1, "a", "bc");
  pairs.train(2, "", "");
  EXPECT_EQ(pairs.in("test").shared, 0);
}

}  // namespace
}  // namespace tessera::corpus
