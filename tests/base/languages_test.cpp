#include <tessera/base/languages.h>

#include "base/language_code.h"
#include "support/complaint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace tessera {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TEST(Languages, AreTwoCodesWithAColonBetween) {
  EXPECT_EQ(parse_languages("de:en"), (Languages{"de", "en"}));
  EXPECT_EQ(parse_languages("PT-BR:zh-Hant"), (Languages{"pt-br", "zh-hant"})) << "one spelling";
  EXPECT_TRUE(parse_languages("en:en").known()) << "from mistakes to none, say";
  EXPECT_FALSE(Languages().known());
}

TEST(Languages, RefuseEverythingElse) {
  for (const char* wrong : {"", ":", "de", "de:", ":en", "de-en", "de:en:fr", "d:en", "de:e n",
                            "de:en-", "de:-en", "de:en--us", "de:12", "de:123456789", "ä:en"})
    EXPECT_THAT(test::complaint([&] { parse_languages(wrong); }),
                AllOf(HasSubstr("two codes"), HasSubstr("'" + std::string(wrong) + "'"),
                      HasSubstr("de:en")));
}

TEST(Languages, HaveCodesOfLettersAndParts) {
  for (const char* code : {"de", "deu", "pt-BR", "zh-Hant-TW", "de-1996", "x-y-abcdefgh"})
    EXPECT_EQ(is_language_code(code), std::string(code) != "x-y-abcdefgh") << code;
  EXPECT_FALSE(is_language_code("de-" + std::string(9, 'a')));
  EXPECT_FALSE(is_language_code("aa-bbbbbbbb-cccccccc-dddddddd-eeeeeeee")) << "36 characters";
  EXPECT_FALSE(is_language_code(std::string("de\0", 3)));
}

}  // namespace
}  // namespace tessera
