#include "text_metric/exact_match.h"

#include <gtest/gtest.h>

#include <vector>

namespace tessera::text_metric {
namespace {

TEST(ExactMatch, IsTheShareOfEqualLinesWhateverTheirBlanks) {
  const std::vector<std::string> lines{"a b", "c", "d", ""};
  const std::vector<std::string> references{" a  b ", "c", "e", ""};
  EXPECT_EQ(exact_match(lines, references), 75);
  EXPECT_EQ(exact_match(std::vector<std::string>{"ab"}, std::vector<std::string>{"a b"}), 0);
}

}  // namespace
}  // namespace tessera::text_metric
