#include "corpus/corpus_writer.h"
#include "seq2seq/tiny_model.h"
#include "support/program.h"
#include "train/checkpoints.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <numeric>
#include <string>
#include <vector>

namespace {

using testing::HasSubstr;

class InspectCommand : public tessera::test::ProgramTest {
 protected:
  InspectCommand() {
    const auto tokenizer = tessera::test::tiny_tokenizer();
    tessera::corpus::CorpusWriter corpus(folder_ / "corpus", tokenizer);
    for (const char* split : {"train", "valid"}) {
      corpus.begin_split(split);
      for (const char* line : {"a b c d e", "f g h", "x", "m n o p", "q r s"})
        corpus.add(line, line, tokenizer.encode(line), tokenizer.encode(line));
    }
    corpus.commit({{"tokenizer", "words"}});
    std::filesystem::create_directories(folder_ / "run");
    write("run/config.toml", "[data]\ndir = \"corpus\"\n[train]\nsteps = 40\n");
    write("run/metrics.jsonl",
          "{\"step\":10,\"loss\":4.5}\n{\"step\":10,\"valid_loss\":4.25,\"valid_bleu\":3.5,"
          "\"valid_exact_match\":0.0}\n"
          "{\"step\":20,\"loss\":2.5}\n{\"step\":20,\"valid_loss\":2.25,\"valid_bleu\":7.5,"
          "\"valid_exact_match\":20.0}\n"
          "{\"step\":25,\"loss\":null}\n{\"step\":30,\"loss\":2.0}\n{\"step\":3");
    tessera::train::Checkpoints checkpoints(folder_ / "run", tessera::train::RetentionOptions{});
    for (const int64_t step : {10, 20, 30})
      checkpoints.save(
          step, [](const auto& folder) { tessera::test::write_tiny_model(folder); },
          step == 20 ? std::optional(7.5) : std::nullopt);
  }

  nlohmann::ordered_json json(const std::string& arguments) const {
    const auto result = run("--device cpu inspect --json " + arguments);
    EXPECT_EQ(result.status, 0) << result.err;
    return nlohmann::ordered_json::parse(result.out);
  }
  std::string text(const std::string& arguments) const {
    const auto result = run("--device cpu inspect " + arguments);
    EXPECT_EQ(result.status, 0) << result.err;
    return result.out;
  }
};

TEST_F(InspectCommand, TellsTheCheckpointsAndHistoryOfARun) {
  const auto report = json("run");
  EXPECT_EQ(report["kind"], "run");
  ASSERT_EQ(report["checkpoints"].size(), 3u);
  EXPECT_EQ(report["checkpoints"][1]["score"], 7.5);
  EXPECT_EQ(report["checkpoints"][1]["best"], true);
  EXPECT_EQ(report["checkpoints"][2]["last"], true);
  EXPECT_EQ(report["checkpoints"][2]["score"], nullptr);
  EXPECT_GT(report["checkpoints"][0]["bytes"], 1000);
  const auto rows = report["history"]["rows"];
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0]["step"], 10);
  EXPECT_EQ(rows[1]["what"], "best");
  EXPECT_EQ(rows[1]["step"], 20);
  EXPECT_EQ(rows[1]["loss"], 2.5);
  EXPECT_EQ(rows[1]["bleu"], 7.5);
  EXPECT_EQ(rows[2]["step"], 30);
  EXPECT_EQ(rows[2]["bleu"], nullptr);
  EXPECT_EQ(report["history"]["losses"], (std::vector<double>{4.5, 2.5, 2.0}));
  EXPECT_EQ(report["options"]["train.steps"]["value"], 40);
  EXPECT_FALSE(report["options"].contains("model.width"));
  EXPECT_TRUE(json("run --all")["options"].contains("model.width"));
  EXPECT_THAT(report["model"]["folder"].get<std::string>(), HasSubstr("step-00000020"));
  EXPECT_THAT(json("run --checkpoint last")["model"]["folder"].get<std::string>(),
              HasSubstr("step-00000030"));

  const std::string shown = text("run");
  for (const char* part :
       {"run run: 30 of 40 updates, scored by bleu", "7.5000", "  best\n", "  last\n",
        "loss 4.5000 █▂▁ 2.0000", "train.steps = 40  (100000)", "validation loss"})
    EXPECT_THAT(shown, HasSubstr(part));
}

TEST_F(InspectCommand, TellsWhatAModelIsMadeOf) {
  const auto model = json("run")["model"];
  EXPECT_EQ(model["kind"], "diffusion");
  EXPECT_EQ(model["symbols"], 30);
  EXPECT_EQ(model["decodable"], 27);
  const auto made = tessera::test::tiny_model();
  EXPECT_EQ(model["parameters"]["total"], made.parameters().count());
  int64_t sum = 0;
  for (const auto& [name, count] : model["parameters"]["parts"].items())
    sum += count.get<int64_t>();
  EXPECT_EQ(sum, made.parameters().count());
  EXPECT_EQ(model["parameters"]["parts"]["embedding"], 30 * 8);
  EXPECT_LE(model["code_norms"]["min"], model["code_norms"]["mean"]);
  EXPECT_LT(model["code_norms"]["mean"], model["code_norms"]["max"]);
  const std::string shown = text("run");
  for (const char* part : {"encoder", "decoder", "30 symbols (words, tokenised text), 27 can be",
                           "length of the codes before normalisation (layernorm)"})
    EXPECT_THAT(shown, HasSubstr(part));
}

TEST_F(InspectCommand, MeasuresTheBoundaryOnTheCorpusOfTheRun) {
  const auto boundary = json("run")["model"]["boundary"];
  EXPECT_EQ(boundary["split"], "valid");
  EXPECT_EQ(boundary["sentences"], 5);
  EXPECT_EQ(boundary["tokens"], 16 + 5) << "words and end symbols";
  EXPECT_EQ(boundary["outside"], 0.0) << "codes of one length lie in their own cells";
  const auto histogram = boundary["histogram"].get<std::vector<double>>();
  EXPECT_EQ(histogram.size(), 20u);
  EXPECT_NEAR(std::accumulate(histogram.begin(), histogram.end(), 0.0), 1, 1e-9);
  EXPECT_EQ(json("run --limit 2")["model"]["boundary"]["tokens"], 8 + 2);
  EXPECT_EQ(json("run --split train")["model"]["boundary"]["split"], "train");
  EXPECT_THAT(text("run"), HasSubstr("on 21 tokens: 5 of 5 sentences of valid in corpus"));
}

TEST_F(InspectCommand, TellsWhatNoiseLeavesOfSymbols) {
  std::filesystem::create_directories(folder_ / "masks");
  tessera::test::write_tiny_model(folder_ / "masks", *tessera::test::tiny_symbols());
  const auto model = json("masks --data corpus")["model"];
  EXPECT_FALSE(model.contains("boundary"));
  const auto noise = model["noise"];
  EXPECT_EQ(noise["noise"], "absorbing");
  EXPECT_EQ(noise["schedule"], "log-linear");
  EXPECT_EQ(noise["tokens"], 16 + 5) << "words and end symbols";
  ASSERT_EQ(noise["times"].size(), 10u);
  EXPECT_NEAR(noise["times"][4].get<double>(), 0.5, 1e-9);
  EXPECT_NEAR(noise["survival"][4].get<double>(), 0.5005, 1e-9);
  EXPECT_NEAR(noise["changed"][4].get<double>(), 0.4995, 1e-9);
  EXPECT_NEAR(noise["information"][4].get<double>(), 0.5005, 1e-9);
  const std::string shown = text("masks --data corpus");
  for (const char* part : {"noise of symbols (absorbing, log-linear schedule)",
                           "on 21 tokens: 5 of 5 sentences of valid in corpus", "masked"})
    EXPECT_THAT(shown, HasSubstr(part));
  EXPECT_THAT(text("masks"), HasSubstr("random labels"));
}

TEST_F(InspectCommand, TellsTheScheduleOfEveryPosition) {
  EXPECT_FALSE(json("run")["model"].contains("schedule"));
  auto options = tessera::test::tiny_options();
  options.process.r = 0;
  options.adaptive = {.stride = 10, .bin = 5, .positions = 3};
  const auto model = tessera::seq2seq::make_seq2seq(
      options, tessera::test::tiny_dictionary().size(),
      {tessera::text::Dictionary::kBos, tessera::text::Dictionary::kPad,
       tessera::text::Dictionary::kUnk},
      at::kCPU, tessera::nn::Precision::float32, 3);
  model->state().at("schedule.times").select(1, 1).mul_(0.5);  // a view: of the second position
  std::filesystem::create_directories(folder_ / "adaptive");
  tessera::test::write_tiny_model(folder_ / "adaptive", *model);
  const auto schedule = json("adaptive")["model"]["schedule"];
  EXPECT_EQ(schedule["positions"], 3);
  ASSERT_EQ(schedule["rows"].size(), 3u);
  for (const size_t k : {0u, 4u, 9u}) {
    const double time = schedule["times"][k].get<double>();
    EXPECT_NEAR(time, 0.1 * static_cast<double>(k + 1), 1e-9);
    EXPECT_NEAR(schedule["rows"][0][k].get<double>(), time, 1e-9);
    EXPECT_NEAR(schedule["rows"][1][k].get<double>(), time / 2, 1e-9);
  }
  const std::string shown = text("adaptive");
  EXPECT_THAT(shown, HasSubstr("schedule of the first 3 of 3 positions"));
  EXPECT_THAT(shown, HasSubstr("0.45   0.50\n"));
}

TEST_F(InspectCommand, TakesRandomLabelsWithoutACorpusAndSaysSo) {
  const std::string alone = text("run/last");
  EXPECT_THAT(alone, HasSubstr("random labels"));
  EXPECT_THAT(alone, HasSubstr("process.horizon   = 100  (2000)"))
      << "its options differ from the defaults";
  EXPECT_EQ(json("run/last --data corpus")["model"]["boundary"]["tokens"], 21);
  std::filesystem::rename(folder_ / "corpus", folder_ / "elsewhere");
  EXPECT_THAT(text("run"), HasSubstr("random labels"));
  EXPECT_EQ(run("--device cpu inspect run --data corpus").status, 1);
  EXPECT_EQ(json("run --data elsewhere")["model"]["boundary"]["data"], "elsewhere");
}

TEST_F(InspectCommand, ShowsARunThatHasNoCheckpointYet) {
  std::filesystem::create_directories(folder_ / "young");
  write("young/config.toml", "[train]\nsteps = 7\n");
  const std::string shown = text("young");
  EXPECT_THAT(shown, HasSubstr("run young: 0 of 7 updates"));
  EXPECT_THAT(shown, HasSubstr("checkpoints: none"));
  EXPECT_EQ(json("young")["model"], nullptr);
  EXPECT_EQ(run("inspect young --checkpoint last").status, 1);
}

TEST_F(InspectCommand, TellsWhatACorpusHolds) {
  const auto report = json("corpus");
  EXPECT_EQ(report["kind"], "corpus");
  EXPECT_EQ(report["symbols"], 30);
  EXPECT_EQ(report["splits"]["train"]["pairs"], 5);
  EXPECT_EQ(report["splits"]["train"]["target_tokens"], 21);
  // Lengths 2, 4, 4, 5, 6 with the end symbol.
  EXPECT_EQ(report["splits"]["valid"]["source_lengths"]["q50"], 4);
  EXPECT_EQ(report["splits"]["valid"]["source_lengths"]["max"], 6);
  EXPECT_DOUBLE_EQ(report["splits"]["valid"]["source_lengths"]["mean"].get<double>(), 4.2);
  EXPECT_EQ(report["frequent_symbols"].size(), 20u);
  EXPECT_EQ(report["options"]["tokenizer"], "words");
  const std::string shown = text("corpus");
  for (const char* part : {"words, tokenised text, 30 symbols, 17 of them used", "fingerprint ",
                           "a (100)", "tokenizer = words", "99 %"})
    EXPECT_THAT(shown, HasSubstr(part));
  EXPECT_EQ(run("inspect corpus --checkpoint last").status, 2);
}

TEST_F(InspectCommand, ListsTheTensorsOfAFile) {
  const auto report = json("run/last/model.safetensors");
  EXPECT_EQ(report["numbers"], tessera::test::tiny_model().parameters().count());
  bool found = false;
  for (const auto& each : report["tensors"])
    if (each["name"] == "embedding") {
      found = true;
      EXPECT_EQ(each["shape"], (std::vector<int64_t>{30, 8}));
      EXPECT_EQ(each["dtype"], "float32");
    }
  EXPECT_TRUE(found);
  EXPECT_THAT(text("run/last/model.safetensors"), HasSubstr("[30,8]"));
  tessera::safetensors::save(folder_ / "odd.safetensors", {{"a\x1b[2J", at::zeros({2})}});
  EXPECT_THAT(text("odd.safetensors"), HasSubstr("a\\x1b[2J"));
}

TEST_F(InspectCommand, SaysWhatIsWrong) {
  std::filesystem::create_directories(folder_ / "empty");
  std::filesystem::create_directories(folder_ / "half");
  std::filesystem::create_directories(folder_ / "odd");
  write("half/config.json", "{}");
  write("odd/config.toml", "[train]\nstepz = 3\n");
  write("file", "not tensors");
  const std::vector<std::pair<std::string, std::string>> cases{
      {"nowhere", "nowhere"},
      {"empty", "neither a run, a model nor a corpus"},
      {"half", "model.safetensors"},
      {"odd", "train.stepz"},
      {"file", "file"},
      {"run --checkpoint 25", "no checkpoint '25'"},
      {"run --data corpus --split dev", "dev"}};
  for (const auto& [arguments, said] : cases) {
    const auto result = run("--device cpu inspect " + arguments);
    EXPECT_EQ(result.status, 1) << arguments;
    EXPECT_THAT(result.err, HasSubstr(said));
    EXPECT_EQ(result.out, "") << arguments;
  }
  write("run/checkpoints/step-00000020/model.safetensors", "broken");
  const auto damaged = run("--device cpu inspect run");
  EXPECT_EQ(damaged.status, 1);
  EXPECT_THAT(damaged.err, HasSubstr("step-00000020/model.safetensors"));
  EXPECT_EQ(run("inspect").status, 2);
  EXPECT_EQ(run("--device cpu inspect run/last --checkpoint best").status, 2);
}

TEST_F(InspectCommand, RefusesACorpusOfOtherSymbols) {
  tessera::text::Dictionary words;
  words.add("one", 1);
  const auto tokenizer = tessera::text::Tokenizer::words(words, false);
  tessera::corpus::CorpusWriter corpus(folder_ / "words", tokenizer);
  corpus.begin_split("valid");
  corpus.add("one", "one", tokenizer.encode("one"), tokenizer.encode("one"));
  corpus.commit({});
  const auto result = run("--device cpu inspect run --data words");
  EXPECT_EQ(result.status, 1);
  EXPECT_THAT(result.err, HasSubstr("the dictionary has 30 symbols, there 5"));
}

}  // namespace
