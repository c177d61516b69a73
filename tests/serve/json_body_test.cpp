#include "serve/json_body.h"

#include "serve/refusal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace tessera::serve {
namespace {

using testing::HasSubstr;

std::string complaint(const std::string& body) {
  try {
    parse_json(body);
  } catch (const Refusal& refusal) {
    EXPECT_EQ(refusal.status(), 400);
    return refusal.what();
  }
  return "";
}

TEST(JsonBody, ReadsWhatIsJson) {
  EXPECT_EQ(parse_json(R"( {"q": ["ä", 1]} )")["q"][0], "ä");
  EXPECT_EQ(complaint(std::string(16, '[') + std::string(16, ']')), "");
}

TEST(JsonBody, RefusesDepthBeforeItIsBuilt) {
  EXPECT_THAT(complaint(std::string(17, '[') + std::string(17, ']')), HasSubstr("deeper than 16"));
  EXPECT_THAT(complaint("{\"q\":" + std::string(800'000, '[')), HasSubstr("deeper than 16"));
  std::string objects;
  for (int k = 0; k < 100'000; ++k) objects += "{\"a\":";
  EXPECT_THAT(complaint(objects), HasSubstr("deeper than 16"));
}

TEST(JsonBody, SaysWhatIsWrong) {
  EXPECT_THAT(complaint(""), HasSubstr("not JSON"));
  EXPECT_THAT(complaint("{\"q\":1"), HasSubstr("not JSON"));
  EXPECT_THAT(complaint("{} {}"), HasSubstr("not JSON"));
  EXPECT_THAT(complaint("{\"q\": NaN}"), HasSubstr("not JSON"));
  EXPECT_THAT(complaint("\"\xff\""), HasSubstr("not UTF-8"));
  EXPECT_THAT(complaint("\"\xed\xa0\x80\""), HasSubstr("not UTF-8")) << "half a surrogate pair";
  EXPECT_THAT(complaint("1e999"), testing::Not(HasSubstr("json.exception")));
}

TEST(JsonBody, WritesEveryString) {
  EXPECT_EQ(dump_json({{"b", "\xff"}, {"a", "\n"}}), "{\"b\":\"\xef\xbf\xbd\",\"a\":\"\\n\"}");
}

}  // namespace
}  // namespace tessera::serve
