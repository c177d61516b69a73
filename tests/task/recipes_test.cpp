#include "support/complaint.h"
#include "task/recipe.h"

#include "config/option_text.h"

#include <tessera/base/error.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace tessera::task {
namespace {

namespace fs = std::filesystem;

const fs::path kRecipes = fs::path(TESSERA_SOURCE_DIR) / "recipes";

// A recipe with the values of its keys.
struct ReadRecipe : Recipe {
  std::map<std::string, config::Value> values;
  std::vector<std::string> warnings;
};

// Reads recipes, given by their names without folder and ending: "multi30k", "methods/vp".
ReadRecipe recipe(const std::vector<std::string>& names) {
  RecipeSource source;
  for (const std::string& name : names) source.files.push_back(kRecipes / (name + ".toml"));
  ReadRecipe result{begin_recipe(source), {}, {}};
  config::Schema schema;
  declare(schema, result);
  source.read(schema);
  schema.finish();
  result.values = schema.values();
  result.warnings = schema.warnings();
  return result;
}

ReadRecipe recipe(const std::string& name) {
  return recipe(std::vector<std::string>{name});
}

ReadRecipe recipe(const std::string& data, const std::string& method) {
  return recipe(std::vector<std::string>{data, "methods/" + method});
}

std::vector<std::string> differing_keys(const ReadRecipe& one, const ReadRecipe& other) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : one.values)
    if (value != other.values.at(key)) keys.push_back(key);
  return keys;
}

std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.path().extension() == ".toml") names.push_back(entry.path().stem());
  return names;
}

TEST(Recipes, AllCanBeRead) {
  const std::vector<std::string> names = names_in(kRecipes);
  for (const std::string& name : names) EXPECT_NO_THROW(recipe(name)) << name;
  EXPECT_GE(names.size(), 10u);
}

TEST(Recipes, EveryMethodFitsItsKindOfDataAlone) {
  const std::vector<std::string> names = names_in(kRecipes / "methods");
  EXPECT_GE(names.size(), 12u);
  for (const std::string& name : names) {
    SCOPED_TRACE(name);
    EXPECT_THAT([&] { recipe("methods/" + name); },
                testing::ThrowsMessage<UsageError>(testing::HasSubstr("is a method")));
    const bool text = [&] {
      try {
        recipe("multi30k", name);
        return true;
      } catch (const UsageError&) {
        return false;
      }
    }();
    EXPECT_NO_THROW(recipe(text ? "tiny" : "fashion", name));
    EXPECT_NO_THROW(recipe(text ? "gigaword-part" : "cifar10-short", name));
    EXPECT_THAT([&] { recipe(text ? "cifar10" : "multi30k", name); },
                testing::ThrowsMessage<UsageError>(testing::AllOf(
                    testing::HasSubstr(".toml' does not fit: it is for data.kind = "),
                    testing::Not(testing::HasSubstr("unknown")))));
  }
}

// Finds sections whose method does not exist, for example because it is misspelt.
TEST(Recipes, SectionsAreOfMethodsThatThereAre) {
  const std::regex section(R"(^\[method\.([^\]]+)\])");
  int seen = 0;
  for (const std::string& name : names_in(kRecipes)) {
    std::ifstream file(kRecipes / (name + ".toml"));
    for (std::string line; std::getline(file, line);)
      if (std::smatch found; std::regex_search(line, found, section)) {
        ++seen;
        EXPECT_TRUE(fs::exists(kRecipes / "methods" / (found[1].str() + ".toml")))
            << name << ": " << line;
      }
  }
  EXPECT_GE(seen, 5);
}

// They differ from the recipe of the same data in size alone, and in what goes with it.
TEST(Recipes, OfSmallTranslatorsAreMadeForTheirSize) {
  for (const char* name : {"tatoeba-small", "tatoeba-cpu"}) {
    SCOPED_TRACE(name);
    const ReadRecipe small = recipe(name), whole = recipe("tatoeba");
    const auto& network = small.text.model.network;
    EXPECT_LT(network.transformer.width, whole.text.model.network.transformer.width);
    EXPECT_EQ(network.transformer.width % network.transformer.heads, 0);
    EXPECT_LE(small.text.data.batches.max_length, network.positions);
    EXPECT_NEAR(std::get<double>(small.values.at("objective.logit_scale")),
                1 / std::sqrt(static_cast<double>(network.latent)), 1e-4)
        << "estimates become as long as codes";
    EXPECT_NO_THROW(recipe(name, "transformer")) << "its teacher";
    for (const std::string& key : differing_keys(small, whole))
      EXPECT_FALSE(key.starts_with("process.") || key.starts_with("generate.") ||
                   key.starts_with("sampler."))
          << key;
  }
}

// The methods are the rows of the paper's tables.
TEST(Recipes, MethodsAreWhatThePaperCompares) {
  for (const std::string task : {"multi30k", "iwslt14", "wmt14", "wmt16", "gigaword"}) {
    SCOPED_TRACE(task);
    const Recipe ours = recipe(task);
    EXPECT_EQ(ours.text.model.process.r, 1);
    EXPECT_EQ(ours.text.model.process.trajectory.kind, TrajectoryKind::ot);
    EXPECT_EQ(recipe(task, "ot").values, recipe(task).values);
    const ReadRecipe vp = recipe(task, "vp");
    EXPECT_EQ(vp.text.model.process.r, task == "gigaword" ? 0.5 : 1);
    EXPECT_EQ(vp.text.model.process.trajectory.kind, TrajectoryKind::vp_sqrt);
    EXPECT_EQ(recipe(task, "plain").text.model.process.noise_factor, 1);
    const ReadRecipe base = recipe(task, "base");
    EXPECT_EQ(base.text.model.process.r, 0);
    EXPECT_EQ(base.text.model.process.noise_factor, task == "wmt14" ? 3.5 : 4);
    EXPECT_EQ(vp.text.model.process.noise_factor, base.text.model.process.noise_factor);
    EXPECT_EQ(base.text.model.process.trajectory.kind, TrajectoryKind::vp_sqrt);
    EXPECT_EQ(recipe(task, "difformer").text.model.process.r, 0);
    EXPECT_THAT(differing_keys(base, vp), testing::ElementsAre("process.r"));
    EXPECT_THAT(differing_keys(recipe(task, "difformer-base"), base),
                testing::ElementsAre("model.condition_on", "objective.logit_scale"));
    // Variants differ in the method, not in the size or the data.
    for (const char* variant : {"vp", "base", "difformer-base", "forward", "velocity"}) {
      const Recipe other = recipe(task, variant);
      EXPECT_EQ(other.text.model.network.transformer.width,
                ours.text.model.network.transformer.width)
          << variant;
      EXPECT_EQ(other.text.data.batches.tokens, ours.text.data.batches.tokens) << variant;
      EXPECT_NEAR(other.run.steps, ours.run.steps, 0.05 * ours.run.steps) << variant;
    }
  }
}

TEST(Recipes, RefuseOverridesThatWouldChangeNothing) {
  const auto complaint = [](const std::string& kind, const std::string& override) {
    Recipe made;
    config::Schema schema;
    declare(schema, made);
    schema.apply_override("model.kind=" + kind);
    schema.apply_override(override);
    try {
      schema.finish();
    } catch (const UsageError& error) {
      EXPECT_EQ(made.text.model.kind, seq2seq::ModelKind::diffusion) << "fields were changed";
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_THAT(complaint("symbols", "process.r=0.5"),
              testing::HasSubstr("for models of kind 'diffusion'"));
  EXPECT_THAT(complaint("symbols", "sampler.clock=velocity"), testing::HasSubstr("sampler.clock"));
  EXPECT_THAT(complaint("diffusion", "symbols.noise=uniform"),
              testing::HasSubstr("kind 'symbols'"));
  EXPECT_THAT(complaint("ar", "generate.lengths=3"),
              testing::HasSubstr("'diffusion' and 'symbols'"));
  for (const char* key : {"target=noise", "mse_weight=2", "cross_entropy_weight=2",
                          "rounding=clean", "logit_scale=0.1", "terminal_weight=1"})
    for (const char* kind : {"symbols", "ar"})
      EXPECT_THAT(complaint(kind, std::string("objective.") + key),
                  testing::HasSubstr("for models of kind 'diffusion'"));
  EXPECT_EQ(complaint("symbols", "symbols.noise=uniform"), "");
  EXPECT_EQ(complaint("symbols", "objective.label_smoothing=0.1"), "") << "of the length";
  EXPECT_EQ(complaint("ar", "objective.label_smoothing=0.1"), "");
  EXPECT_EQ(complaint("ar", "generate.beam=3"), "");
}

TEST(Recipes, RefuseOverridesThatWouldChangeNothingOfImages) {
  const auto read = [](const std::string& coding, const std::string& override) {
    Recipe made(Domain::images);
    config::Schema schema;
    declare(schema, made);
    schema.apply_override("model.coding=" + coding);
    schema.apply_override(override);
    schema.finish();
  };
  const auto refuses = [&](const std::string& coding, const std::string& override,
                           const std::string& said) {
    EXPECT_THAT(test::complaint([&] { read(coding, override); }),
                testing::HasSubstr("for images coded as " + said))
        << coding << ", " << override;
  };
  refuses("values", "process.r=0.5", "'bits', 'fixed', 'trainable' and 'pixels'");
  refuses("values", "objective.mse_weight=2", "'bits', 'fixed', 'trainable' and 'pixels'");
  refuses("values", "sampler.clock=velocity", "'bits', 'fixed', 'trainable' and 'pixels'");
  refuses("values", "model.gray=true", "'bits', 'fixed' and 'trainable'");
  refuses("bits", "objective.cross_entropy_weight=2", "'fixed' and 'trainable'");
  refuses("pixels", "objective.label_smoothing=0.1", "'fixed' and 'trainable'");
  refuses("bits", "model.latent=16", "'trainable'");
  refuses("bits", "model.head=logistic", "'values'");
  refuses("bits", "symbols.noise=uniform", "'values'");
  refuses("fixed", "sampler.predictor=euler", "'values'");
  EXPECT_NO_THROW(read("values", "symbols.noise=uniform"));
  EXPECT_NO_THROW(read("values", "sampler.steps=10"));
  EXPECT_NO_THROW(read("trainable", "objective.logit_scale=0.5"));
  EXPECT_NO_THROW(read("pixels", "process.r=0"));
}

TEST(Recipes, MethodsOfPointsAreAsPublished) {
  for (const char* name : {"dinoiser", "diffuseq", "seqdiffuseq"}) {
    const Recipe made = recipe("multi30k", name);
    EXPECT_EQ(made.text.model.process.r, 0) << name;
    EXPECT_EQ(made.text.model.process.noise_factor, 1) << name;
    EXPECT_NE(made.text.model.objective.rounding, Rounding::estimate) << name;
    EXPECT_EQ(made.text.model.objective.logit_scale, 1) << name;
  }
}

// With 0.1 the encoder of SeqDiffuSeq learnt lengths and nothing of the dates.
TEST(Recipes, LengthsDoNotOutweighASquaredError) {
  for (const char* data : {"tiny", "multi30k"})
    for (const char* name : {"dinoiser", "diffuseq", "seqdiffuseq"}) {
      const auto& model = recipe(data, name).text.model;
      EXPECT_TRUE(model.length_weight <= 0.01 || !model.length_gradient) << data << ' ' << name;
    }
  EXPECT_TRUE(recipe("tiny", "dinoiser").text.model.length_gradient);
  EXPECT_FALSE(recipe("multi30k", "dinoiser").text.model.length_gradient);
}

TEST(Recipes, MethodsOfSymbolsAreAsPublished) {
  const auto symbols = [](const char* name) {
    const Recipe made = recipe("multi30k", name);
    EXPECT_EQ(made.text.model.kind, seq2seq::ModelKind::symbols) << name;
    EXPECT_EQ(made.text.model.self_conditioning, 0) << name;
    EXPECT_EQ(made.run.steps, recipe("multi30k").run.steps) << name;
    return made.text.model.symbols;
  };
  for (const char* name : {"mdlm", "d3pm", "sedd", "mask-predict"})
    EXPECT_EQ(symbols(name).process.noise, SymbolNoise::absorbing) << name;
  for (const char* name : {"udlm", "d3pm-uniform"})
    EXPECT_EQ(symbols(name).process.noise, SymbolNoise::uniform) << name;
  for (const char* name : {"d3pm", "d3pm-uniform"}) {
    EXPECT_FALSE(symbols(name).process.continuous) << name;
    EXPECT_EQ(symbols(name).process.survival.horizon, 50) << name;
  }
  EXPECT_FALSE(symbols("mdlm").told_time);
  EXPECT_EQ(symbols("sedd").objective.target, SymbolTarget::score_entropy);
  EXPECT_EQ(recipe("multi30k", "mask-predict").text.generate.sampler.symbols.order,
            UncoverOrder::confidence);
}

TEST(Recipes, ImagesHaveEveryCoding) {
  for (const std::string coding : {"bits", "fixed", "trainable", "pixels"}) {
    const Recipe whole = recipe("cifar10", coding), quick = recipe("cifar10-short", coding);
    for (const Recipe* each : {&whole, &quick}) {
      EXPECT_EQ(each->domain, Domain::images);
      EXPECT_EQ(name_of(each->image.model.coding.kind), coding);
      EXPECT_EQ(each->image.model.process.r, coding == "pixels" ? 0 : 0.5);
    }
    EXPECT_EQ(whole.image.model.network.width, 256);
    EXPECT_EQ(whole.run.steps, 1500000);
    EXPECT_LT(quick.run.steps, 10000);
  }
  EXPECT_EQ(recipe("cifar10", "bits").values, recipe("cifar10").values);
}

TEST(Recipes, CodesOfImagesHaveAnAutoencoderAndMethods) {
  const Recipe codes = recipe("cifar10-vq");
  EXPECT_EQ(codes.domain, Domain::images);
  EXPECT_EQ(codes.image.kind, ImageKind::autoencoder);
  EXPECT_EQ(codes.image.autoencoder.quantiser.codes, 512);
  for (const std::string method : {"mdlm-vq", "udlm-vq", "d3pm-vq", "tauldr-vq", "sddm-vq"}) {
    SCOPED_TRACE(method);
    const image_model::ImageModelOptions model = recipe("cifar10-codes", method).image.model;
    EXPECT_EQ(model.coding.kind, image_model::Coding::symbols);
    EXPECT_EQ(model.symbols.process.noise,
              method == "mdlm-vq" ? SymbolNoise::absorbing : SymbolNoise::uniform);
    EXPECT_EQ(model.symbols.process.continuous, method != "d3pm-vq");
    EXPECT_EQ(model.network_kind == image_model::ImageNetwork::hollow, method == "sddm-vq");
  }
  EXPECT_EQ(recipe("cifar10-codes", "mdlm-vq").values, recipe("cifar10-codes").values);
}

// tests/task/old_recipes.txt lists the old names. They go away with the next version.
TEST(Recipes, OldNamesAreThePairsTheyWere) {
  std::ifstream file(fs::path(TESSERA_SOURCE_DIR) / "tests/task/old_recipes.txt");
  int seen = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with('#')) continue;
    SCOPED_TRACE(line);
    std::istringstream words(line);
    std::string name, data, method;
    words >> name >> data >> method;
    const ReadRecipe old = recipe(name);
    EXPECT_EQ(old.values, recipe(data, method).values);
    ASSERT_EQ(old.warnings.size(), 1u);
    EXPECT_THAT(
        old.warnings[0],
        testing::AllOf(testing::HasSubstr(name + ".toml' is an old name"),
                       testing::EndsWith(data + ".toml " +
                                         (kRecipes / "methods" / method).string() + ".toml")));
    // The differences from the data's recipe, with values as text.
    std::map<std::string, std::string> expected, found;
    for (std::string word; words >> word;)
      expected[word.substr(0, word.find('='))] = word.substr(word.find('=') + 1);
    const ReadRecipe of_data = recipe(data);
    for (const auto& [key, value] : old.values)
      if (value != of_data.values.at(key) || expected.contains(key))
        found[key] = config::text_of(value);
    EXPECT_EQ(found, expected);
    ++seen;
  }
  EXPECT_EQ(seen, 46);
}

// The preset sets the defaults of other keys; keys that are given win.
TEST(Recipes, MayNameAPreset) {
  const auto read = [](const std::vector<std::string>& overrides) {
    const RecipeSource source(kRecipes / "multi30k.toml");
    Recipe result = begin_recipe(source, overrides);
    config::Schema schema;
    declare(schema, result);
    source.read(schema);
    for (const std::string& assignment : overrides) schema.apply_override(assignment);
    schema.finish();
    return result.text.generate;
  };
  const auto passes = [](const seq2seq::GenerationOptions& options) {
    return options.candidates() * options.sampler.steps;
  };
  const auto usual = read({}), balanced = read({"generate.preset=balanced"});
  EXPECT_EQ(usual.lengths, balanced.lengths);
  EXPECT_EQ(usual.noises, balanced.noises);
  EXPECT_EQ(usual.sampler.steps, balanced.sampler.steps);
  EXPECT_LE(passes(read({"generate.preset=fast"})), 6);
  EXPECT_LE(passes(balanced), 20);
  const auto best = read({"generate.preset=best"});
  EXPECT_LE(passes(best), 100);
  EXPECT_GT(passes(best), passes(balanced));
  EXPECT_EQ(read({"generate.lengths=2", "generate.preset=best"}).lengths, 2);
  EXPECT_EQ(read({"generate.lengths=2", "generate.preset=best"}).noises, best.noises);
  EXPECT_THAT(
      [&] {
        read({"generate.preset=best", "model.kind=ar"});
      },
      testing::ThrowsMessage<UsageError>(testing::HasSubstr("autoregressive")));
}

TEST(Recipes, APresetOfARunIsSpeltOutBeforeOtherOverrides) {
  EXPECT_THAT(spelt_out(std::vector<std::string>{"train.steps=3"}),
              testing::ElementsAre("train.steps=3"));
  const auto words =
      spelt_out(std::vector<std::string>{"generate.noises=2", "generate.preset=fast"});
  EXPECT_THAT(words, testing::Contains("sampler.steps=2"));
  EXPECT_EQ(words.at(words.size() - 2), "generate.noises=2");
}

// A resumed run may only change keys that do not affect the mathematics of its updates.
TEST(Recipes, SayWhichKeysMayChangeInARunThatGoesOn) {
  const std::set<std::string> free{"train.steps",
                                   "train.log_every",
                                   "train.save_every",
                                   "train.keep_last",
                                   "train.keep_best",
                                   "train.graphs",
                                   "train.validate_every",
                                   "train.patience",
                                   "train.min_delta",
                                   "data.dir",
                                   "train.divergence_factor",
                                   "train.divergence_window",
                                   "train.show_images",
                                   "train.divergence_spikes",
                                   "train.validate_samples",
                                   "train.features",
                                   "train.validate_sentences",
                                   "train.statistics",
                                   "train.validate_images"};
  for (const Domain domain : {Domain::text, Domain::images}) {
    Recipe recipe(domain);
    config::Schema schema;
    declare(schema, recipe);
    for (const auto& [key, value] : schema.values())
      EXPECT_EQ(schema.may_change(key), free.contains(key) || key.starts_with("generate.") ||
                                            key.starts_with("sample.") ||
                                            key.starts_with("sampler."))
          << key;
    EXPECT_FALSE(schema.may_change("no.key"));
    // Scores must stay comparable.
    recipe.image.validation.score = ImageScore::distance;
    recipe.text.validate_sentences = 0;
    EXPECT_FALSE(schema.may_change("train.validate_samples"));
    EXPECT_FALSE(schema.may_change("train.validate_sentences"));
    recipe.text.score = TextScore::loss;
    EXPECT_EQ(schema.may_change("train.validate_sentences"), domain == Domain::text);
  }
}

TEST(Recipes, TinyMakesItsOwnData) {
  EXPECT_EQ(recipe("tiny").text.data.source, TextSource::dates);
}

}  // namespace
}  // namespace tessera::task
