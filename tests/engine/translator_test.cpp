#include <tessera/engine/translator.h>

#include "seq2seq/tiny_model.h"
#include "support/temporary_folder.h"

#include <tessera/base/error.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

namespace tessera {
namespace {

using testing::HasSubstr;

class TranslatorTest : public testing::Test {
 protected:
  TranslatorTest() { test::write_tiny_model(parent_ / "model"); }

  Translator translator(TranslatorOptions options = {}) const {
    options.device = "cpu";
    return Translator(parent_ / "model", options);
  }

  test::TemporaryFolder parent_;
  const std::vector<std::string> texts_{"a b c", "", "z y x w v u t"};
};

TEST_F(TranslatorTest, TurnsTextIntoText) {
  const Translator ours = translator();
  const auto translations = ours.translate(texts_);
  ASSERT_EQ(translations.size(), 3u);
  EXPECT_EQ(translations[1], "");
  EXPECT_EQ(ours.translate(texts_), translations);
  EXPECT_EQ(ours.translate("a b c"), ours.translate(std::vector<std::string>{"a b c"})[0]);
  EXPECT_TRUE(ours.translate(std::vector<std::string>{}).empty());
}

TEST_F(TranslatorTest, SaysHowItChose) {
  const auto translations = translator({.lengths = 2, .noises = 2}).translate_with_scores(texts_);
  ASSERT_EQ(translations.size(), 3u);
  EXPECT_TRUE(translations[1].candidates.empty());
  ASSERT_EQ(translations[2].candidates.size(), 4u);
  EXPECT_EQ(translations[2].text, translations[2].candidates[translations[2].chosen].text);
  for (const auto& candidate : translations[2].candidates) EXPECT_LT(candidate.confidence, 0);
}

TEST_F(TranslatorTest, SeedsMatter) {
  const auto one = translator({.seed = 1}).translate_with_scores(texts_);
  const auto two = translator({.seed = 2}).translate_with_scores(texts_);
  EXPECT_NE(one[2].candidates[0].confidence, two[2].candidates[0].confidence);
}

TEST_F(TranslatorTest, MayBeSharedByThreads) {
  const Translator shared = translator();
  const auto expected = shared.translate(texts_);
  std::vector<std::vector<std::string>> results(4);
  std::vector<std::thread> threads;
  for (auto& result : results) threads.emplace_back([&] { result = shared.translate(texts_); });
  for (auto& thread : threads) thread.join();
  for (const auto& result : results) EXPECT_EQ(result, expected);
}

TEST_F(TranslatorTest, TakesARun) {
  std::filesystem::create_directories(parent_ / "run");
  std::filesystem::create_directory_symlink("../model", parent_ / "run/last");
  const Translator ours(parent_ / "run", {.device = "cpu"});
  EXPECT_EQ(ours.translate(texts_), translator().translate(texts_));
  EXPECT_THROW(Translator(parent_ / "run", {.device = "cpu", .checkpoint = "best"}), Error);
}

TEST_F(TranslatorTest, RefusesOptionsThatDoNotFitTheModel) {
  test::write_tiny_model(parent_ / "ar", test::tiny_autoregressive());
  const auto complaint = [&](TranslatorOptions options) {
    options.device = "cpu";
    try {
      Translator(parent_ / "ar", options);
    } catch (const UsageError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(complaint({}), "");
  EXPECT_EQ(complaint({.steps = 3}), "steps is not for models of kind 'ar'");
  EXPECT_THAT(complaint({.preset = "fast"}), HasSubstr("preset is not for"));
  EXPECT_THAT(complaint({.r = 0.5}), HasSubstr("r is not for"));
  EXPECT_THAT(complaint({.lengths = 2}), HasSubstr("lengths is not for"));
  EXPECT_THAT(complaint({.noises = 2}), HasSubstr("noises is not for"));
  EXPECT_THAT(complaint({.selection = "mbr"}), HasSubstr("selection chooses among"));
  EXPECT_THROW(translator({.selection = "rerank"}), UsageError);
}

TEST_F(TranslatorTest, RefusesWhatMakesNoSense) {
  EXPECT_THROW(translator({.steps = 0}), UsageError);
  EXPECT_THROW(translator({.r = 1.5}), UsageError);
  EXPECT_THROW(translator({.noises = 0}), UsageError);
  EXPECT_THROW(translator({.selection = "luck"}), UsageError);
  EXPECT_THROW(Translator(parent_ / "nowhere"), Error);
  try {
    translator().translate(std::vector<std::string>{"a", "b \xff"});
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("text 1 is not UTF-8"));
  }
}

}  // namespace
}  // namespace tessera
