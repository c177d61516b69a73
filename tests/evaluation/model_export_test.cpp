#include <tessera/evaluation/model_export.h>

#include "evaluation/made_corpus.h"
#include "files/files.h"
#include "files/model_files.h"
#include "files/sha256.h"
#include "files/weight_average.h"
#include "image_model/image_folder.h"
#include "image_model/tiny_image_model.h"
#include "seq2seq/tiny_model.h"
#include "support/complaint.h"
#include "support/temporary_folder.h"

#include <tessera/engine/image_sampler.h>
#include <tessera/engine/translator.h>
#include <tessera/files/safetensors.h>

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <set>
#include <string>

namespace tessera {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kCard =
    "title = 'Letters'\ndescription = 'Letters to letters.'\nscores = 'None.'\n"
    "attribution = 'Letters by the alphabet.'\nlanguages = 'de:en'\nlicence = 'Free.'\n"
    "licence_file = 'LICENSE.txt'\n";

std::set<std::string> names_in(const fs::path& folder) {
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.insert(entry.path().filename());
  return names;
}

class ModelExportTest : public testing::Test {
 protected:
  ModelExportTest() {
    test::write_tiny_model(folder_ / "model");
    write_file_atomically(folder_ / "card.toml", kCard);
    write_file_atomically(folder_ / "LICENSE.txt", "Do as you like.\n");
  }

  ModelExport exported(const std::string& name, ModelExportOptions options = {}) const {
    return export_model(folder_ / "model", folder_ / name, options);
  }
  safetensors::Tensors weights(const std::string& name) const {
    return safetensors::File(folder_ / name / kModelWeightsFile).tensors();
  }
  std::string text(const std::string& name) const { return read_file(folder_ / name); }

  test::TemporaryFolder folder_{test::quick_place()};
};

TEST_F(ModelExportTest, RoundsAllWeightsButTheCodes) {
  const ModelExport made = exported("out");
  const auto before = weights("model"), after = weights("out");
  ASSERT_EQ(before.size(), after.size());
  for (const auto& [name, tensor] : after) {
    if (name == "embedding") {
      EXPECT_TRUE(at::equal(tensor, before.at(name))) << "float32, bit for bit";
      continue;
    }
    EXPECT_EQ(tensor.scalar_type(), at::kBFloat16) << name;
    EXPECT_TRUE(at::equal(tensor, before.at(name).to(at::kBFloat16))) << name;
  }
  EXPECT_LT(made.weights_bytes,
            0.7 * static_cast<double>(fs::file_size(folder_ / "model" / kModelWeightsFile)));
  EXPECT_EQ(made.weights_bytes, fs::file_size(folder_ / "out" / kModelWeightsFile));
  EXPECT_EQ(made.sha256, sha256(text("out/model.safetensors")));
  EXPECT_EQ(made.kind, "seq2seq");
  EXPECT_EQ(made.parameters, test::tiny_model().parameters().count());
  uint64_t bytes = 0;
  for (const auto& entry : fs::directory_iterator(folder_ / "out")) bytes += entry.file_size();
  EXPECT_EQ(made.bytes, bytes);
}

// Halfway between two numbers of bfloat16, the even one is taken: 1 + 1/256 lies between 1 and
// 1 + 1/128, and 1 + 3/256 between 1 + 1/128 and 1 + 2/128.
TEST_F(ModelExportTest, RoundsToNearestAndTiesToEven) {
  safetensors::Tensors stored = weights("model");
  for (auto& [name, tensor] : stored) tensor = tensor.clone();
  const std::string bias = "decoder.0.self.out.bias";
  ASSERT_TRUE(stored.contains(bias));
  at::Tensor flat = stored.at(bias).flatten();
  const std::vector<float> given{1 + 1.f / 256, 1 + 3.f / 256, -1 - 1.f / 256, 1 + 1.01f / 256};
  const std::vector<float> rounded{1, 1 + 2.f / 128, -1, 1 + 1.f / 128};
  ASSERT_GE(flat.numel(), 4);
  flat.slice(0, 0, 4).copy_(at::tensor(given));
  stored.at(bias).copy_(flat.view(stored.at(bias).sizes()));
  safetensors::save(folder_ / "model" / kModelWeightsFile, stored);
  exported("out");
  const at::Tensor found = weights("out").at(bias).flatten().slice(0, 0, 4).to(at::kFloat);
  EXPECT_TRUE(at::equal(found, at::tensor(rounded))) << found;
}

TEST_F(ModelExportTest, KeepsEveryBitInFloat32) {
  exported("out", {.precision = "float32"});
  EXPECT_EQ(text("out/model.safetensors"), text("model/model.safetensors"));
  EXPECT_EQ(text("out/config.json"), text("model/config.json"));
}

TEST_F(ModelExportTest, WritesEqualBytesTwice) {
  const ModelExportOptions options{.cards = {folder_ / "card.toml"}, .recipe = "steps = 3\n"};
  const ModelExport one = exported("one", options), two = exported("two", options);
  EXPECT_EQ(one.sha256, two.sha256);
  ASSERT_EQ(names_in(folder_ / "one"), names_in(folder_ / "two"));
  for (const std::string& name : names_in(folder_ / "one"))
    EXPECT_EQ(text("one/" + name), text("two/" + name)) << name;
}

TEST_F(ModelExportTest, TakesWhatAModelNeedsAndNoStateOfItsTraining) {
  for (const char* name : {"training.safetensors", "state.json"})
    write_file_atomically(folder_ / "model" / name, "of training");
  exported("out", {.cards = {folder_ / "card.toml"}});
  EXPECT_THAT(names_in(folder_ / "out"),
              ElementsAre("LICENSE", "README.md", "config.json", "dict.txt", "model.safetensors",
                          "tokenizer.json"));
  EXPECT_EQ(text("out/LICENSE"), "Do as you like.\n");
  EXPECT_EQ(text("out/dict.txt"), text("model/dict.txt"));
}

TEST_F(ModelExportTest, MakesAModelThatWorksInBothPrecisions) {
  exported("out");
  const std::string line = "a b c d";
  for (const char* precision : {"float32", "bfloat16"}) {
    const Translator translator(folder_ / "out", {.device = "cpu", .precision = precision});
    EXPECT_FALSE(translator.translate(line).empty()) << precision;
  }
  // In bfloat16 the network computes with the same weights, rounded before or now.
  const Translator before(folder_ / "model", {.device = "cpu", .precision = "bfloat16"});
  const Translator after(folder_ / "out", {.device = "cpu", .precision = "bfloat16"});
  EXPECT_EQ(before.translate(line), after.translate(line));
}

TEST_F(ModelExportTest, LetsTheModelSayItsLanguagesAndWhoseDataItIsMadeOf) {
  exported("out", {.cards = {folder_ / "card.toml"}});
  const Engine engine(folder_ / "out", {.device = "cpu"}), older(folder_ / "model");
  EXPECT_EQ(engine.languages(), (Languages{"de", "en"}));
  EXPECT_EQ(engine.attribution(), "Letters by the alphabet.");
  EXPECT_FALSE(older.languages().known());
  EXPECT_EQ(older.attribution(), "");
  exported("again", {.precision = "float32"});
  const ModelExport copy = export_model(folder_ / "out", folder_ / "copy");
  EXPECT_EQ(Engine(copy.folder, {.device = "cpu"}).languages(), engine.languages())
      << "what is known stays known";
  EXPECT_EQ(text("copy/LICENSE"), text("out/LICENSE"));
  EXPECT_EQ(text("copy/README.md"), text("out/README.md"));
}

TEST_F(ModelExportTest, TellsInItsCardWhatPeopleAndTheProgramKnow) {
  test::write_tiny_model(folder_ / "trained");
  const auto loaded = seq2seq::load_model_folder(folder_ / "trained", at::kCPU);
  seq2seq::write_model_folder(
      folder_ / "trained", *loaded.model, loaded.model->parameters().values(), loaded.tokenizer,
      loaded.generation, {.data = "a corpus of fingerprint f00d", .facts = {{"updates", "12"}}});
  const ModelExport made = export_model(folder_ / "trained", folder_ / "out",
                                        {.cards = {folder_ / "card.toml"}, .recipe = "r = 0.5\n"});
  const std::string card = text("out/README.md");
  EXPECT_THAT(card, testing::StartsWith("# Letters\n\nLetters to letters.\n\n| model | |\n"));
  for (const std::string& said :
       {std::string("| languages | de to en |"), std::string("| parameters | "),
        "| SHA-256 | `" + made.sha256 + "` |", std::string(" bytes, bfloat16 (codes: float32) |"),
        std::string("| steps | 4 |"), std::string("| candidates | 1 length x 3 noises"),
        std::string("| data | a corpus of fingerprint f00d |"), std::string("| updates | 12 |"),
        std::string("## Use\n\n```\ntessera generate"), std::string("## Scores\n\nNone.\n"),
        std::string("## Licence\n\nFree.\n"), std::string("## Recipe\n\n```toml\nr = 0.5\n"),
        std::string("one chosen by blend |")})
    EXPECT_THAT(card, HasSubstr(said));
  EXPECT_THAT(card, Not(HasSubstr("## Limits"))) << "nobody said anything about them";
  EXPECT_THAT(card, Not(HasSubstr("## Options"))) << "the recipe says what is not as usual";
  export_model(folder_ / "trained", folder_ / "without");
  EXPECT_THAT(text("without/README.md"), HasSubstr("## Options\n\n```toml\n"));
  EXPECT_THAT(text("without/README.md"), HasSubstr("model.width = 16\n"));
}

TEST_F(ModelExportTest, MeasuresBeforeAndAfterRounding) {
  test::write_made_corpus(folder_ / "corpus", test::tiny_tokenizer(),
                          {{"a b c d e", "e d c b a"}, {"f g h i", "f g h i"}, {"x y z", "y"}});
  int64_t done = 0;
  const ModelExport made = exported("out", {.check = CorpusPart{folder_ / "corpus", "test", 2},
                                            .device = "cpu",
                                            .progress = [&](int64_t more) { done += more; }});
  ASSERT_TRUE(made.check);
  EXPECT_EQ(made.check->sentences, 2);
  EXPECT_EQ(done, 4) << "two models";
  EXPECT_EQ(made.check->before.name, "BLEU");
  EXPECT_GE(made.check->before.score, 0);
  EXPECT_THAT(text("out/README.md"),
              AllOf(HasSubstr("| rounding | BLEU "), HasSubstr("2 sentences of test")));
  // Nothing to round: nothing changes.
  const ModelExport same = exported(
      "same",
      {.precision = "float32", .check = CorpusPart{folder_ / "corpus", "test"}, .device = "cpu"});
  EXPECT_EQ(same.check->before.score, same.check->after.score);
}

TEST_F(ModelExportTest, CanBeAveragedLikeAnyOther) {
  exported("out", {.cards = {folder_ / "card.toml"}});
  average_models({folder_ / "out", folder_ / "model"}, folder_ / "mean");
  EXPECT_EQ(Engine(folder_ / "mean", {.device = "cpu"}).attribution(), "Letters by the alphabet.");
  EXPECT_EQ(text("mean/LICENSE"), "Do as you like.\n");
  EXPECT_THAT(text("mean/README.md"),
              AllOf(HasSubstr("## Licence\n\nFree."), Not(HasSubstr("## Scores"))));
}

class RoundedExportTest : public ModelExportTest {
 protected:
  RoundedExportTest() { exported("out", {.precision = "int8"}); }
};

TEST_F(RoundedExportTest, StoresProductsIn8BitsAndNothingElse) {
  const safetensors::Tensors before = weights("model");
  int64_t rounded = 0;
  for (const auto& [name, tensor] : weights("out")) {
    if (!before.contains(name)) {
      EXPECT_THAT(name, EndsWith(".weight.scale"));
      continue;
    }
    const at::Tensor& exact = before.at(name);
    EXPECT_EQ(tensor.sizes(), exact.sizes());
    if (name.ends_with(".weight")) {
      ASSERT_EQ(tensor.scalar_type(), at::kChar) << name;
      const at::Tensor scales = weights("out").at(name + ".scale").unsqueeze(1);
      const at::Tensor error = (tensor.to(at::kFloat) * scales - exact).abs();
      EXPECT_TRUE((error <= scales * 0.5001).all().item<bool>()) << name;
      ++rounded;
    } else {
      EXPECT_TRUE(at::equal(tensor, exact)) << name;
    }
  }
  EXPECT_GT(rounded, 10);
  EXPECT_EQ(nlohmann::json::parse(text("out/config.json")).at("format"), 2);
}

TEST_F(RoundedExportTest, GeneratesAsTheModelDoesIn8Bits) {
  const auto said = [&](const char* folder, const char* precision) {
    return Translator(folder_ / folder, {.device = "cpu", .precision = precision})
        .translate("a b c d");
  };
  EXPECT_EQ(said("out", "int8"), said("model", "int8"));
  EXPECT_FALSE(said("out", "float32").empty());
  EXPECT_FALSE(said("out", "bfloat16").empty());
}

TEST_F(RoundedExportTest, IsForNothingButGenerating) {
  EXPECT_THAT(test::complaint([&] { average_models({folder_ / "out"}, folder_ / "mean"); }),
              HasSubstr("rounded to 8 bits: they are for generating, not for averaging"));
  EXPECT_THAT(test::complaint([&] { export_model(folder_ / "out", folder_ / "again"); }),
              HasSubstr("not for another export"));
}

TEST_F(RoundedExportTest, SaysWhichScalesAreMissing) {
  safetensors::Tensors damaged = weights("out");
  std::erase_if(damaged, [](const auto& one) { return one.first.ends_with("up.weight.scale"); });
  safetensors::save(folder_ / "out" / kModelWeightsFile, damaged);
  EXPECT_THAT(test::complaint([&] { Translator(folder_ / "out", {.device = "cpu"}); }),
              HasSubstr("up.weight.scale"));
}

TEST_F(ModelExportTest, RefusesWhatCannotBe) {
  const auto said = [&](const ModelExportOptions& options) {
    return test::complaint([&] { exported("out", options); });
  };
  EXPECT_THAT(said({.precision = "float16"}), HasSubstr("float16"));
  EXPECT_THAT(said({.checkpoint = "best"}), HasSubstr("has no checkpoints"));
  write_file_atomically(folder_ / "names.toml", "classes = ['a']\n");
  EXPECT_THAT(said({.cards = {folder_ / "names.toml"}}),
              HasSubstr("the card names 1 class, and the model knows 0"));
  EXPECT_THAT(said({.check = CorpusPart{folder_ / "nowhere"}}), HasSubstr("nowhere"));
  EXPECT_FALSE(fs::exists(folder_ / "out")) << "what failed leaves nothing";
  fs::create_directories(folder_ / "out");
  EXPECT_THAT(said({}), HasSubstr("exists already"));
  write_file_atomically(folder_ / "model" / kModelWeightsFile, "broken");
  EXPECT_THAT(test::complaint([&] { exported("other"); }), HasSubstr("model.safetensors"));
}

class ImageExportTest : public ModelExportTest {
 protected:
  ImageExportTest() { test::write_tiny_image_model(folder_ / "images"); }
};

TEST_F(ImageExportTest, RoundsAModelOfImagesAndNamesItsClasses) {
  const auto there = Engine(folder_ / "images", {.device = "cpu"}).classes();
  ASSERT_GE(there.size(), 2u);
  std::string names = "attribution = 'By many.'\nclasses = [";
  for (size_t k = 0; k < there.size(); ++k) names += "'kind " + std::to_string(k) + "', ";
  write_file_atomically(folder_ / "names.toml", names + "]\n");
  const ModelExport made =
      export_model(folder_ / "images", folder_ / "out", {.cards = {folder_ / "names.toml"}});
  EXPECT_EQ(made.kind, "image");
  const Engine engine(folder_ / "out", {.device = "cpu"});
  EXPECT_EQ(engine.classes().front(), "kind 0");
  EXPECT_EQ(engine.attribution(), "By many.");
  const ImageRequest request{.count = 2, .label = "kind 1", .options = {.steps = 2}};
  const ImageResult result = engine.run(std::span(&request, 1)).front();
  result.require_done();
  EXPECT_EQ(result.images.count, 2);
  for (const auto& [name, tensor] :
       safetensors::File(folder_ / "out" / kModelWeightsFile).tensors())
    EXPECT_EQ(tensor.scalar_type(), at::kBFloat16) << name;
  EXPECT_THAT(test::complaint([&] {
                export_model(folder_ / "images", folder_ / "checked",
                             {.check = CorpusPart{folder_ / "corpus"}});
              }),
              HasSubstr("model of images"));
}

}  // namespace
}  // namespace tessera
