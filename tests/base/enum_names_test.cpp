#include "tessera/base/enum_names.h"

#include <gtest/gtest.h>

#include "tessera/base/error.h"

namespace tessera {

enum class Fruit { apple, pear };

template <>
struct EnumNames<Fruit> {
  static constexpr std::string_view what = "fruit";
  static constexpr std::array<std::pair<Fruit, std::string_view>, 2> values = {
      {{Fruit::apple, "apple"}, {Fruit::pear, "pear"}}};
};

namespace {

TEST(EnumNames, NamesAndValuesMatchBothWays) {
  EXPECT_EQ(name_of(Fruit::pear), "pear");
  EXPECT_EQ(parse_name<Fruit>("apple"), Fruit::apple);
}

TEST(EnumNames, UnknownNameSaysWhatWasMeantAndWhatThereIs) {
  try {
    parse_name<Fruit>("appel");
    FAIL() << "an unknown name was accepted";
  } catch (const UsageError& error) {
    EXPECT_STREQ(error.what(), "unknown fruit 'appel' (did you mean 'apple'?)");
    EXPECT_EQ(error.hint(), "known: apple, pear");
  }
}

TEST(EnumNames, OthersThatTheCallerTakesAreListed) {
  try {
    parse_name<Fruit>("anny", {"any"});
    FAIL() << "an unknown name was accepted";
  } catch (const UsageError& error) {
    EXPECT_STREQ(error.what(), "unknown fruit 'anny' (did you mean 'any'?)");
    EXPECT_EQ(error.hint(), "known: any, apple, pear");
  }
}

}  // namespace
}  // namespace tessera
