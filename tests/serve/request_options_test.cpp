#include "serve/request_options.h"

#include "serve/refusal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace tessera::serve {
namespace {

using testing::HasSubstr;

constexpr std::string_view kOthers[] = {"q"};

std::string complaint(const std::string& body) {
  try {
    text_options(nlohmann::json::parse(body), kOthers);
  } catch (const Refusal& refusal) {
    EXPECT_EQ(refusal.status(), 400);
    return refusal.field + ": " + refusal.what();
  }
  return "";
}

TEST(RequestOptions, ReadsEveryKindOfField) {
  const GenerateOptions options = text_options(
      nlohmann::json::parse(R"({"q":"x","steps":10,"candidates":5,"r":0.5,"length":"+2",
                                "merge_repeats":true,"selection":"mbr","beam":null})"),
      kOthers);
  EXPECT_EQ(options, (GenerateOptions{.steps = 10,
                                      .r = 0.5,
                                      .candidates = "5",
                                      .merge_repeats = true,
                                      .length = "+2",
                                      .selection = "mbr"}));
  EXPECT_EQ(image_options(nlohmann::json::parse(R"({"guidance":2})"), {}).guidance, 2.0);
}

TEST(RequestOptions, RefusesWhatIsNotForClients) {
  EXPECT_THAT(complaint(R"({"steps":"10"})"), HasSubstr("steps: steps must be a whole number"));
  EXPECT_THAT(complaint(R"({"steps":18446744073709551615})"), HasSubstr("steps: "));
  EXPECT_THAT(complaint(R"({"r":"1"})"), HasSubstr("r: "));
  EXPECT_THAT(complaint(R"({"candidates":[5]})"), HasSubstr("candidates: "));
  EXPECT_THAT(complaint(R"({"merge_repeats":1})"), HasSubstr("merge_repeats: "));
  EXPECT_THAT(complaint(R"({"stepz":1})"), HasSubstr("did you mean 'steps'?"));
  EXPECT_THAT(complaint(R"({"selection":"rerank=/etc"})"), HasSubstr("selection: "));
  for (const char* own : {"batch_tokens", "noise"})
    EXPECT_THAT(complaint(std::string("{\"") + own + "\":1}"), HasSubstr("there is no field"));
  EXPECT_THAT(complaint("[]"), HasSubstr("must be a JSON object"));
}

TEST(RequestOptions, AreMergedWithDefaults) {
  const GenerateOptions base{.steps = 20, .candidates = "3x3", .noises = 2, .selection = "blend"};
  EXPECT_EQ(merged(base, {}), base);
  EXPECT_EQ(merged(base, {.steps = 5}).steps, 5);
  EXPECT_EQ(merged(base, {.steps = 5}).candidates, "3x3");
  EXPECT_EQ(merged(base, {.candidates = "4"}),
            (GenerateOptions{.steps = 20, .candidates = "4", .selection = "blend"}));
  EXPECT_EQ(merged(base, {.preset = "fast"}), (GenerateOptions{.preset = "fast"}))
      << "a preset is not mixed with the defaults";
  EXPECT_EQ(merged(SampleOptions{.steps = 3}, SampleOptions{.guidance = 2}),
            (SampleOptions{.steps = 3, .guidance = 2}));
}

}  // namespace
}  // namespace tessera::serve
