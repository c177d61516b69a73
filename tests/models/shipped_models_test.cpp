// The models in models/, which come with the program. There may be none.

#include "files/files.h"
#include "files/json_file.h"
#include "files/model_files.h"
#include "files/sha256.h"

#include <tessera/engine/engine.h>
#include <tessera/engine/image_sampler.h>
#include <tessera/engine/translator.h>
#include <tessera/evaluation/text_scores.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

namespace tessera {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

const fs::path kRoot = TESSERA_SOURCE_DIR;

std::vector<std::string> lines_of(const fs::path& path) {
  std::vector<std::string> lines;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

class ShippedModel : public testing::Test {
 protected:
  // Calls use(folder) for every model.
  template <class Use>
  static void for_each(const Use& use) {
    int seen = 0;
    std::error_code failure;
    for (fs::directory_iterator entry(kRoot / "models", failure), end; !failure && entry != end;
         entry.increment(failure))
      if (entry->is_directory()) {
        SCOPED_TRACE(entry->path().filename());
        ++seen;
        ASSERT_NO_FATAL_FAILURE(use(entry->path()));
      }
    if (seen == 0) GTEST_SKIP() << "there is no model in models/";
  }

  static bool makes_images(const fs::path& folder) { return kind_of_model(folder) == "image"; }
};

TEST_F(ShippedModel, IsWhatItsCardSays) {
  for_each([](const fs::path& folder) {
    ASSERT_TRUE(is_model_folder(folder));
    const std::string card = read_file(folder / "README.md");
    const std::string weights = read_file(folder / "model.safetensors");
    EXPECT_THAT(card, HasSubstr("| SHA-256 | `" + sha256(weights) + "` |"));
    std::string size = std::to_string(weights.size());
    for (auto place = std::ssize(size) - 3; place > 0; place -= 3)
      size.insert(static_cast<size_t>(place), ",");
    EXPECT_THAT(card, HasSubstr("| weights | " + size + " bytes, "));
  });
}

TEST_F(ShippedModel, HasACardThatNamesDataScoresLimitsAndLicence) {
  for_each([](const fs::path& folder) {
    const std::string card = read_file(folder / "README.md");
    for (const char* title : {"Use", "Scores", "Training", "Limits", "Licence", "Recipe"})
      EXPECT_NE(section_of_card(folder, title), "") << title;
    std::map<std::string, std::string> facts;
    for (const auto& [name, value] : facts_of_card(folder)) facts[name] = value;
    EXPECT_THAT(facts["data"], HasSubstr("fingerprint"));
    EXPECT_NE(facts["updates"], "");
    EXPECT_NE(read_file(folder / "LICENSE"), "");
    EXPECT_EQ(card.find("= \"/"), card.npos) << "a path of the machine it was made on";
    EXPECT_THAT(read_file(kRoot / "NOTICE"),
                HasSubstr("models/" + folder.filename().string() + "\n"));
    EXPECT_NE(about_model(folder).attribution, "");
  });
}

TEST_F(ShippedModel, HoldsNothingButTheModel) {
  for_each([](const fs::path& folder) {
    for (const auto& entry : fs::directory_iterator(folder))
      EXPECT_THAT(entry.path().filename().string(),
                  testing::AnyOf("README.md", "LICENSE", "config.json", "model.safetensors",
                                 "tokenizer.json", "dict.txt", "codes.bpe"));
  });
}

// Rounding differs between machines, and with it a sentence now and then.
TEST_F(ShippedModel, TranslatesAsItDidWhenItWasExported) {
  for_each([](const fs::path& folder) {
    if (makes_images(folder)) return;
    const fs::path expected_in = kRoot / "tests/models" / folder.filename();
    const nlohmann::ordered_json expected = read_json(
        expected_in / "expected.json", "scripts/make-shipped-model --expected models/NAME");
    const Translator translator(folder, {.device = "cpu", .precision = "float32"});
    const std::vector<std::string> sentences = lines_of(expected_in / "sentences.de");
    ASSERT_EQ(sentences.size(), 10u);
    const std::vector<std::string> translations = translator.translate(sentences);
    int equal = 0;
    for (size_t k = 0; k < sentences.size(); ++k)
      equal += translations[k] == expected.at("translations").at(k).get<std::string>();
    EXPECT_GE(equal, 8) << testing::PrintToString(translations);

    const std::vector<std::string> sources = lines_of(expected_in / "source.de");
    const std::vector<std::vector<std::string>> references{lines_of(expected_in / "reference.en")};
    ASSERT_EQ(sources.size(), 100u);
    const std::vector<TextScore> scores = score_texts(translator.translate(sources), references);
    EXPECT_GE(scores.front().score, expected.at("bleu").get<double>() - 1);
    EXPECT_TRUE(Engine(folder, {.device = "cpu"}).languages().known());
  });
}

// Pictures, not noise: neighbours are alike, and classes are not.
TEST_F(ShippedModel, MakesPicturesOfItsClasses) {
  for_each([](const fs::path& folder) {
    if (!makes_images(folder)) return;
    constexpr int64_t kEach = 4;
    const ImageSampler sampler(folder, {.device = "cpu", .precision = "float32", .steps = 20});
    ASSERT_GE(sampler.classes().size(), 2u);
    EXPECT_NE(sampler.classes().front(), "0") << "classes have names";
    std::vector<std::vector<double>> means;
    double steps = 0, spread = 0;  // between neighbours in a row; of all values
    for (const std::string& label :
         {sampler.classes()[1], sampler.classes()[7 % sampler.classes().size()]}) {
      const Images images = sampler.sample(kEach, 0, label);
      const auto size = static_cast<size_t>(images.height * images.width * images.channels);
      means.emplace_back(size);
      double sum = 0, squares = 0;
      for (size_t k = 0; k < images.values.size(); ++k) {
        const double value = images.values[k];
        means.back()[k % size] += value / kEach;
        sum += value;
        squares += value * value;
        if (k % static_cast<size_t>(images.width * images.channels) >=
            static_cast<size_t>(images.channels))
          steps += std::abs(value - images.values[k - static_cast<size_t>(images.channels)]);
      }
      const auto count = static_cast<double>(images.values.size());
      spread += std::sqrt(squares / count - sum / count * (sum / count)) / 2;
      if (means.size() == 2) steps /= 2 * count;
    }
    EXPECT_GT(spread, 30) << "they are not grey all over";
    EXPECT_LT(steps, 0.5 * spread) << "noise has neighbours that differ by more than its spread";
    double difference = 0;
    for (size_t k = 0; k < means[0].size(); ++k)
      difference += std::abs(means[0][k] - means[1][k]) / static_cast<double>(means[0].size());
    EXPECT_GT(difference, 20);
  });
}

}  // namespace
}  // namespace tessera
