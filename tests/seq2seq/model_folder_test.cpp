#include "seq2seq/model_folder.h"

#include "files/checkpoint_manifest.h"
#include "files/files.h"
#include "seq2seq/generator.h"
#include "seq2seq/tiny_model.h"
#include "support/complaint.h"
#include "support/temporary_folder.h"

#include <tessera/base/error.h>

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <functional>
#include <map>
#include <string>

namespace tessera::seq2seq {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;

class ModelFolder : public testing::Test {
 protected:
  ModelFolder() { test::write_tiny_model(folder()); }

  fs::path folder() const { return parent_ / "model"; }

  // The message of the error from loading, which must not be a UsageError.
  std::string complaint() const {
    try {
      load_model_folder(folder(), at::kCPU);
    } catch (const UsageError& error) {
      return std::string("UsageError: ") + error.what();
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }

  void edit_config(const std::function<void(nlohmann::ordered_json&)>& change) const {
    auto json = nlohmann::ordered_json::parse(read_file(folder() / "config.json"));
    change(json);
    write_file_atomically(folder() / "config.json", json.dump());
  }

  test::TemporaryFolder parent_;
};

TEST_F(ModelFolder, KeepsTheScheduleThatTrainingMade) {
  EXPECT_FALSE(fs::exists(folder() / "state.safetensors")) << "of models that have such state";
  Seq2SeqOptions options = test::tiny_options();
  options.process.r = 0;
  options.adaptive = {.stride = 1, .positions = 4};
  Diffusion made(options, test::tiny_dictionary().size(), {text::Dictionary::kPad}, at::kCPU,
                 nn::Precision::float32, 3);
  const at::Tensor& table = made.family()->process()->warp()->table();
  const at::Tensor before = table.clone();
  made.updated(1);
  EXPECT_FALSE(at::equal(table, before));
  test::write_tiny_model(folder(), made);
  const LoadedModel loaded = load_model_folder(folder(), at::kCPU);
  EXPECT_TRUE(at::equal(loaded.model->family()->process()->warp()->table(), table));

  fs::remove(folder() / "state.safetensors");
  EXPECT_THAT(complaint(), HasSubstr("state.safetensors"));
}

TEST_F(ModelFolder, GivesBackTheModelToTheBit) {
  const Diffusion made = test::tiny_model();
  const LoadedModel loaded = load_model_folder(folder(), at::kCPU);
  EXPECT_TRUE(at::equal(loaded.model->parameters().values(), made.parameters().values()));
  EXPECT_EQ(loaded.model->undecodable(), made.undecodable());
  EXPECT_EQ(loaded.model->options().process.r, made.options().process.r);
  EXPECT_EQ(loaded.model->options().network.positions, 40);
  EXPECT_EQ(loaded.generation.noises, test::tiny_generation().noises);
  EXPECT_EQ(loaded.generation.sampler.steps, 4);
  EXPECT_EQ(loaded.tokenizer.encode("a b z"), test::tiny_tokenizer().encode("a b z"));

  const std::vector<std::vector<text::Id>> sources{{4, 9, 7, text::Dictionary::kEos}};
  const Candidate before = Generator(made, test::tiny_generation()).generate(sources)[0].best();
  const Candidate after = Generator(*loaded.model, loaded.generation).generate(sources)[0].best();
  EXPECT_EQ(before.ids, after.ids);
  EXPECT_EQ(before.confidence, after.confidence);
}

TEST_F(ModelFolder, KeepsEveryOptionIncludingThoseWithoutAValue) {
  Seq2SeqOptions options = test::tiny_options();
  options.process.r = 0.1 + 0.2;
  options.normalise = Normalise::l2;
  GenerationOptions generation;
  generation.sampler.r = 0.3;
  generation.sampler.seed = ~uint64_t{0};
  generation.selection = Selection::confidence;
  const Diffusion made(options, test::tiny_dictionary().size(), {0, 1}, at::kCPU,
                       nn::Precision::float32, 1);
  write_model_folder(parent_ / "other", made, made.parameters().values(), test::tiny_tokenizer(),
                     generation, {});
  const LoadedModel loaded = load_model_folder(parent_ / "other", at::kCPU);
  EXPECT_EQ(loaded.model->options().process.r, 0.1 + 0.2);
  EXPECT_EQ(loaded.model->options().normalise, Normalise::l2);
  EXPECT_EQ(loaded.generation.sampler.r, 0.3);
  EXPECT_EQ(loaded.generation.sampler.seed, ~uint64_t{0});
  EXPECT_EQ(loaded.generation.selection, Selection::confidence);
  EXPECT_EQ(load_model_folder(folder(), at::kCPU).generation.sampler.r, std::nullopt);
}

TEST_F(ModelFolder, OfEqualModelsHasEqualBytes) {
  test::write_tiny_model(parent_ / "again");
  for (const char* file :
       {"config.json", "model.safetensors", "README.md", "dict.txt", "tokenizer.json"})
    EXPECT_EQ(read_file(folder() / file), read_file(parent_ / "again" / file)) << file;
}

TEST_F(ModelFolder, StoresTheWeightsItIsGiven) {
  const Diffusion made = test::tiny_model();
  const at::Tensor average = at::linspace(-1, 1, made.parameters().values().numel());
  write_model_folder(folder(), made, average, test::tiny_tokenizer(), {}, {});
  EXPECT_TRUE(
      at::equal(load_model_folder(folder(), at::kCPU).model->parameters().values(), average));
}

TEST_F(ModelFolder, TellsPeopleWhatItIs) {
  const Diffusion made = test::tiny_model();
  write_model_folder(folder(), made, made.parameters().values(), test::tiny_tokenizer(), {},
                     {.title = "Letters to letters",
                      .description = "Says nothing.",
                      .data = "29 pairs (fingerprint 0123)",
                      .facts = {{"updates", "6500"}, {"BLEU", "7.00"}}});
  const std::string card = read_file(folder() / "README.md");
  for (const char* part : {"# Letters to letters", "Says nothing.", "29 pairs (fingerprint 0123)",
                           "| updates | 6500 |", "| BLEU | 7.00 |", "30 symbols",
                           "trajectory ot, r = 1", "tessera generate", "[process]"})
    EXPECT_THAT(card, HasSubstr(part));
}

TEST_F(ModelFolder, ThatIsMissingOrIncompleteIsNamed) {
  EXPECT_THROW(load_model_folder(parent_ / "nowhere", at::kCPU), Error);
  for (const char* file : {"config.json", "model.safetensors", "dict.txt", "tokenizer.json"}) {
    test::write_tiny_model(folder());
    fs::remove(folder() / file);
    EXPECT_THAT(complaint(), HasSubstr(file));
    EXPECT_THAT(complaint(), HasSubstr(folder().string()));
  }
}

TEST_F(ModelFolder, OfANewerFormatIsRefused) {
  edit_config([](auto& json) { json["format"] = 3; });
  EXPECT_THAT(complaint(), HasSubstr("format 3, newer than this tessera"));
}

TEST_F(ModelFolder, ThatIsBrokenIsRefused) {
  write_file_atomically(folder() / "config.json", "{\"format\": 1,");
  EXPECT_THAT(complaint(), HasSubstr("config.json' is damaged: it is not JSON"));
  write_file_atomically(folder() / "config.json", "[]");
  EXPECT_THAT(complaint(), HasSubstr("not a model's configuration"));
  const std::vector<std::function<void(nlohmann::ordered_json&)>> changes{
      [](auto& json) { json.erase("symbols"); },
      [](auto& json) { json["kind"] = "image"; },
      [](auto& json) { json["options"]["process.trajectroy"] = "ot"; },
      [](auto& json) { json["options"]["process.r"] = 7; },
      [](auto& json) {
        json["options"]["process.r"] = {{"a", 1}};
      },
      [](auto& json) { json["options"]["model.heads"] = 3; },
      [](auto& json) { json["undecodable"] = {1000}; },
      [](auto& json) { json["undecodable"] = "all"; },
      [](auto& json) { json["symbols"] = -1; }};
  for (const auto& change : changes) {
    test::write_tiny_model(folder());
    edit_config(change);
    const std::string said = complaint();
    EXPECT_NE(said, "");
    EXPECT_THAT(said, testing::Not(HasSubstr("UsageError")));
    EXPECT_THAT(said, HasSubstr(folder().string()));
  }
  test::write_tiny_model(folder());
  fs::resize_file(folder() / "model.safetensors", 100);
  EXPECT_THAT(complaint(), HasSubstr("model.safetensors"));
}

TEST_F(ModelFolder, WithADictionaryOfAnotherSizeIsRefused) {
  text::Dictionary dictionary = test::tiny_dictionary();
  dictionary.add("more", 1);
  dictionary.save(folder() / "dict.txt");
  EXPECT_THAT(complaint(), HasSubstr("dictionary has 31 symbols and the model 30"));
  const Diffusion made = test::tiny_model();
  EXPECT_THROW(write_model_folder(folder(), made, made.parameters().values(),
                                  text::Tokenizer::words(dictionary, false), {}, {}),
               Error);
}

TEST_F(ModelFolder, WithWeightsOfAnotherSizeIsRefused) {
  edit_config([](auto& json) { json["options"]["model.width"] = 32; });
  EXPECT_THAT(complaint(), HasSubstr("do not fit this model"));
  EXPECT_THAT(complaint(), HasSubstr("has shape"));
}

TEST_F(ModelFolder, OfAbsurdSizesIsRefusedBeforeAnythingIsAllocated) {
  for (const char* key :
       {"model.layers", "model.width", "model.feedforward", "model.positions", "model.heads",
        "model.latent", "process.horizon", "generate.batch_tokens"})
    for (const int64_t size : {int64_t{-1}, int64_t{1} << 33, INT64_MAX}) {
      test::write_tiny_model(folder());
      edit_config([&](auto& json) { json["options"][key] = size; });
      EXPECT_THAT(complaint(), AllOf(HasSubstr("config.json"), HasSubstr(key), HasSubstr("in [")));
    }
  // Sizes that are allowed, but are not those of the weights beside them.
  for (const auto& [key, size] : std::map<std::string, int64_t>{{"model.width", 65536},
                                                                {"model.feedforward", 262144},
                                                                {"model.positions", 1048576},
                                                                {"model.layers", 1000}}) {
    test::write_tiny_model(folder());
    edit_config([&, name = key, value = size](auto& json) { json["options"][name] = value; });
    EXPECT_THAT(complaint(), AllOf(HasSubstr("config.json"), HasSubstr("do not fit this model")));
  }
}

TEST_F(ModelFolder, WhoseFilesAreNoneIsRefusedAtOnce) {
  for (const char* name : {"config.json", "model.safetensors", "dict.txt", "tokenizer.json"}) {
    test::write_tiny_model(folder());
    fs::remove(folder() / name);
    ASSERT_EQ(mkfifo((folder() / name).c_str(), 0600), 0);
    EXPECT_THAT(complaint(), AllOf(HasSubstr(name), HasSubstr("not a regular file")));
    fs::remove(folder() / name);
    fs::create_symlink("/dev/zero", folder() / name);
    EXPECT_THAT(complaint(), AllOf(HasSubstr(name), HasSubstr("not a regular file")));
    fs::remove(folder() / name);
  }
}

TEST_F(ModelFolder, IsFoundInARun) {
  const fs::path run = parent_ / "run";
  fs::create_directories(run / "checkpoints");
  EXPECT_THROW(find_model_folder(run), Error);
  const fs::path first = run / "checkpoints/step-00000010",
                 second = run / "checkpoints/step-00000020";
  test::write_tiny_model(first);
  test::write_tiny_model(second);
  EXPECT_EQ(find_model_folder(run), second) << "without links";
  fs::create_directory_symlink("checkpoints/step-00000020", run / "last");
  EXPECT_EQ(find_model_folder(run), second);
  fs::create_directory_symlink("checkpoints/step-00000010", run / "best");
  EXPECT_EQ(find_model_folder(run), first);
  EXPECT_EQ(find_model_folder(run, "last"), second);
  EXPECT_EQ(find_model_folder(run, "20"), second);
  EXPECT_THROW(find_model_folder(run, "30"), Error);
  EXPECT_THROW(find_model_folder(run, "newest"), UsageError);
  EXPECT_EQ(find_model_folder(folder()), folder());
  EXPECT_THROW(find_model_folder(folder(), "best"), UsageError);
  EXPECT_THROW(find_model_folder(parent_ / "nowhere"), Error);
  EXPECT_THROW(find_model_folder(parent_.path()), Error) << "neither a run nor a model";
}

TEST_F(ModelFolder, IsFoundInARunThatLostItsLinks) {
  const fs::path run = parent_ / "run";
  for (const char* step : {"step-00000020", "step-00000100", "step-00000003"})
    test::write_tiny_model(run / "checkpoints" / step);
  EXPECT_EQ(find_model_folder(run), run / "checkpoints/step-00000100");
  EXPECT_EQ(find_model_folder(run, "last"), run / "checkpoints/step-00000100");
  EXPECT_EQ(find_model_folder(run, "3"), run / "checkpoints/step-00000003");
  EXPECT_THAT(test::complaint([&] { find_model_folder(run, "best"); }),
              HasSubstr("no checkpoint 'best' | there are: step-00000003, step-00000020"));
}

// A manifest makes the folder a checkpoint.
TEST_F(ModelFolder, OfACheckpointIsNotTakenWithAChangedConfiguration) {
  CheckpointManifest::of_folder(folder(), 10, {}).write(folder());
  EXPECT_EQ(complaint(), "");
  write_file_atomically(folder() / "README.md", "my notes\n");
  EXPECT_EQ(complaint(), "") << "prose may be edited";

  const std::string before = read_file(folder() / "config.json");
  edit_config([](auto& json) { json["options"]["model.heads"] = 4; });
  EXPECT_THAT(complaint(), HasSubstr("config.json' has been changed"));
  fs::remove(folder() / "manifest.json");
  EXPECT_EQ(complaint(), "") << "a model folder that is no checkpoint is as it is";

  write_file_atomically(folder() / "config.json", before);
  CheckpointManifest::of_folder(folder(), 10, {}).write(folder());
  std::string symbols = read_file(folder() / "dict.txt");
  std::swap(symbols[0], symbols[symbols.find('\n') + 1]);
  write_file_atomically(folder() / "dict.txt", symbols);
  EXPECT_THAT(complaint(), HasSubstr("dict.txt' has been changed"));
  write_file_atomically(folder() / "manifest.json", "{");
  EXPECT_THAT(complaint(), HasSubstr("manifest.json' is damaged"));
}

}  // namespace
}  // namespace tessera::seq2seq
