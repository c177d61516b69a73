#include "corpus/corpus_writer.h"
#include "files/sha256.h"
#include "seq2seq/tiny_model.h"
#include "support/program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <string>

namespace {

using tessera::test::file_text;
using testing::AllOf;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;

// The whole way of a model: German to English, from files of sentences to a folder to pass on.
class ExportCommand : public tessera::test::ProgramTest {
 protected:
  ExportCommand() {
    std::string pairs;
    for (const char* line : {"a b c d\td c b a", "e f g\tg f e", "h i\ti h", "k l m n\tn m l k"})
      pairs += std::string(line) + "\n";
    write("pairs.tsv", pairs);
    write("in", "a b c d\n\ne f g\n");
  }

  void train() const {
    const auto prepared =
        run("prepare --train pairs.tsv --valid pairs.tsv --test pairs.tsv --languages de:EN "
            "--tokenizer words --vocab 0 --out corpus");
    ASSERT_EQ(prepared.status, 0) << prepared.err;
    const auto trained =
        run("--device cpu train " TESSERA_SOURCE_DIR
            "/recipes/tiny.toml data.task=none data.dir=corpus train.out=run model.width=16 "
            "model.latent=8 model.feedforward=16 model.heads=2 model.layers=1 train.steps=4 "
            "train.warmup=1 train.save_every=2 train.validate_every=2 train.score=bleu");
    ASSERT_EQ(trained.status, 0) << trained.err;
  }

  nlohmann::json json(const std::string& arguments) const {
    const auto result = run("--device cpu --json " + arguments);
    EXPECT_EQ(result.status, 0) << result.err;
    return nlohmann::json::parse(result.out);
  }
};

TEST_F(ExportCommand, LanguagesGoFromThePreparedTextToTheModel) {
  train();
  const nlohmann::json languages{{"source", "de"}, {"target", "en"}};
  EXPECT_EQ(json("inspect corpus")["languages"], languages);
  EXPECT_EQ(nlohmann::json::parse(file_text(folder_ / "corpus/manifest.json"))["languages"],
            languages);
  EXPECT_EQ(json("inspect run")["model"]["languages"], languages);
  EXPECT_THAT(run("inspect corpus").out, HasSubstr("words, raw text, from de to en,"));
  EXPECT_THAT(run("inspect run").out, HasSubstr("(words, raw text, from de to en)"));
  ASSERT_EQ(run("export run --out model").status, 0);
  EXPECT_EQ(nlohmann::json::parse(file_text(folder_ / "model/config.json"))["languages"],
            languages);
  ASSERT_EQ(run("--device cpu distill run --data corpus --out distilled").status, 0);
  EXPECT_EQ(json("inspect distilled")["languages"], languages);
}

TEST_F(ExportCommand, WritesASmallModelThatWorksLikeTheRun) {
  train();
  write("card.toml", "title = 'Letters backwards'\nattribution = 'Letters by the alphabet.'\n");
  const auto result = run("--device cpu export run --out model --card card.toml --check test");
  ASSERT_EQ(result.status, 0) << result.err;
  const std::string hash = tessera::sha256(file_text(folder_ / "model/model.safetensors"));
  EXPECT_THAT(result.out, testing::StartsWith("model\n"));
  EXPECT_THAT(result.out, HasSubstr("SHA-256 " + hash + "\n"));
  EXPECT_THAT(result.out, HasSubstr(" before rounding, "));
  const auto generated = run("--device cpu generate model <in");
  EXPECT_EQ(generated.status, 0) << generated.err;
  EXPECT_THAT(generated.out, MatchesRegex("[^\n]*\n\n[^\n]*\n"));
  EXPECT_EQ(run("--device cpu generate model --precision bfloat16 <in").status, 0);
  const auto report = json("inspect model");
  EXPECT_EQ(report["model"]["attribution"], "Letters by the alphabet.");
  EXPECT_THAT(run("inspect model").out, HasSubstr("  Letters by the alphabet.\n"));
  // The card has the recipe, but no path of this machine.
  const std::string card = file_text(folder_ / "model/README.md");
  EXPECT_THAT(card, AllOf(HasSubstr("# Letters backwards\n"), HasSubstr("train.steps = 4\n"),
                          HasSubstr("| updates | "), HasSubstr("| data | a prepared corpus of"),
                          HasSubstr("| rounding | BLEU ")));
  EXPECT_THAT(card, Not(HasSubstr(folder_.path().string())));
  EXPECT_THAT(card, Not(HasSubstr("data.dir")));
  // The same again gives the same bytes.
  ASSERT_EQ(run("--device cpu export run --out again --card card.toml --check test").status, 0);
  for (const char* name : {"README.md", "config.json", "model.safetensors"})
    EXPECT_EQ(file_text(folder_ / "model" / name), file_text(folder_ / "again" / name)) << name;
}

TEST_F(ExportCommand, WritesModelsIn8BitsForGenerating) {
  train();
  ASSERT_EQ(run("--device cpu export run --out small --precision int8 --check test").status, 0);
  EXPECT_LT(std::filesystem::file_size(folder_ / "small/model.safetensors"),
            std::filesystem::file_size(folder_ / "run/last/model.safetensors"));
  EXPECT_EQ(run("--device cpu generate small --precision int8 <in").out,
            run("--device cpu generate run --precision int8 <in").out);
  EXPECT_EQ(run("--device cpu generate small <in").status, 0);
  EXPECT_THAT(json("inspect small")["model"]["parameters"], testing::Gt(0));
  EXPECT_THAT(file_text(folder_ / "small/README.md"),
              HasSubstr("int8 (of products; others: float32)"));
  expect_failure("average small small --out mean", 1, HasSubstr("rounded to 8 bits"));
  expect_failure("export small --out other", 1, HasSubstr("exported from"));
}

TEST_F(ExportCommand, PrintsJson) {
  tessera::test::write_tiny_model(folder_ / "tiny");
  const auto report = json("export tiny --out model --precision float32");
  EXPECT_EQ(report["model"], "model");
  EXPECT_EQ(report["kind"], "seq2seq");
  EXPECT_EQ(report["sha256"], tessera::sha256(file_text(folder_ / "tiny/model.safetensors")));
  EXPECT_EQ(report["weights_bytes"],
            std::filesystem::file_size(folder_ / "tiny/model.safetensors"));
  EXPECT_FALSE(report.contains("check"));
}

TEST_F(ExportCommand, SaysWhatIsWrong) {
  tessera::test::write_tiny_model(folder_ / "tiny");
  write("card.toml", "titel = 'x'\n");
  expect_failure("export tiny", 2, HasSubstr("--out"));
  expect_failure("export nowhere --out model", 1, HasSubstr("there is no folder 'nowhere'"));
  expect_failure("export tiny --out tiny", 1, HasSubstr("'tiny' exists already"));
  expect_failure("export tiny --out model --precision int4", 2, HasSubstr("int4"));
  expect_failure("export tiny --out model --card card.toml", 2,
                 AllOf(HasSubstr("card.toml:1"), HasSubstr("did you mean 'title'")));
  expect_failure("export tiny --out model --check test", 2, HasSubstr("--data"));
  expect_failure("export tiny --out model --data corpus", 2, HasSubstr("--check"));
  expect_failure("export tiny --out model --checkpoint best", 2, HasSubstr("no checkpoints"));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "model"));
}

TEST_F(ExportCommand, PrepareRefusesLanguagesThatAreNone) {
  expect_failure("prepare --train pairs.tsv --languages german --out corpus", 2,
                 AllOf(HasSubstr("two codes"), HasSubstr("de:en")));
  expect_failure("prepare --tiny --languages de:en --out corpus", 2, HasSubstr("--languages"));
  expect_failure("prepare --images png --from x --languages de:en --out corpus", 2,
                 HasSubstr("--languages is for text"));
}

TEST_F(ExportCommand, LanguagesThatAreDamagedAreAnError) {
  tessera::test::write_tiny_model(folder_ / "tiny");
  auto config = nlohmann::json::parse(file_text(folder_ / "tiny/config.json"));
  for (const auto& languages : {nlohmann::json("de"), nlohmann::json{{"source", "de"}},
                                nlohmann::json{{"source", "de"}, {"target", "<b>"}}}) {
    config["languages"] = languages;
    write("tiny/config.json", config.dump());
    expect_failure("--device cpu generate tiny <in", 1,
                   AllOf(HasSubstr("config.json' is broken"), HasSubstr("languages")));
  }
}

}  // namespace
