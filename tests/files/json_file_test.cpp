#include "files/json_file.h"

#include "files/files.h"
#include "support/complaint.h"
#include "support/temporary_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

namespace tessera {
namespace {

using nlohmann::ordered_json;

TEST(JsonFile, DamageIsToldInOurWordsWithTheFilesName) {
  const test::TemporaryFolder folder;
  write_file_atomically(folder / "x.json", "{\"a\": 1}");
  EXPECT_EQ(read_json(folder / "x.json").at("a"), 1);
  write_file_atomically(folder / "x.json", "{\"a\":\n oops");
  EXPECT_EQ(test::complaint([&] { read_json(folder / "x.json", "make it again"); }),
            "'" + (folder / "x.json").string() +
                "' is damaged: it is not JSON from line 2, column 2 on | make it again");
}

// Values are copied and printed by recursive functions, which would overflow the stack.
TEST(JsonFile, RefusesWhatNestsTooDeeply) {
  const auto nested = [](size_t depth) {
    return "{\"a\":" + std::string(depth, '[') + std::string(depth, ']') + "}";
  };
  const test::TemporaryFolder folder;
  write_file_atomically(folder / "x.json", nested(1'000'000));
  EXPECT_THAT(test::complaint([&] { read_json(folder / "x.json", "make it again"); }),
              testing::AllOf(testing::HasSubstr("x.json' is damaged: it nests more than 100"),
                             testing::HasSubstr("make it again")));
  EXPECT_TRUE(parse_json(nested(1'000'000)).is_discarded());
  EXPECT_TRUE(parse_json(nested(99)).is_object());
}

TEST(JsonFile, DoesNotCountWhatStandsInTexts) {
  const std::string text(1000, '[');
  EXPECT_EQ(parse_json("[\"\\\"" + text + "\"]").at(0), "\"" + text);
  EXPECT_TRUE(parse_json("[\"").is_discarded());
}

TEST(JsonFile, WhatIsWrongWithAValueIsToldInOurWords) {
  const ordered_json json{{"a", "b"}, {"c", {1, 2}}};
  const auto problem = [&](const std::function<void()>& act) -> std::string {
    try {
      act();
    } catch (const nlohmann::json::exception& error) {
      return json_problem(error);
    }
    return "";
  };
  EXPECT_EQ(problem([&] { json.at("width"); }), "'width' is missing");
  EXPECT_EQ(problem([&] { json.at("a").get<int64_t>(); }), "a number is expected, not a string");
  EXPECT_EQ(problem([&] { json.at("c").get<std::string>(); }),
            "a string is expected, not an array");
  EXPECT_THAT(problem([&] { json.at("a").at("b"); }),
              testing::Not(testing::HasSubstr("json.exception")));
}

}  // namespace
}  // namespace tessera
