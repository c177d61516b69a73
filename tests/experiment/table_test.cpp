#include "experiment/table.h"

#include "files/files.h"
#include "support/complaint.h"
#include "support/temporary_folder.h"

#include <tessera/base/error.h>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace tessera::experiment {
namespace {

namespace fs = std::filesystem;
using test::complaint;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kWholeTable = R"(title = "A table of {task}"
base = "plain"
columns = ["bleu", { key = "one_step.accuracy", title = "accuracy", decimals = 4 }]
seeds = [1, 2]
[set]
task = "x"
[data]
raw = ""
[distilled.kd]
teacher = "ar"
of = "raw"
beam = 3
[model.zebra]
recipe = "{task}.toml"
data = "raw"
[model.ar]
recipe = "{task}.toml"
data = "raw"
seeds = [7]
overrides = ["train.steps=10"]
[model.student]
recipe = "x.toml"
data = "kd"
[[cell]]
row = "plain"
column = "raw"
model = "zebra"
[[cell]]
row = "reranked"
column = "raw"
model = "zebra"
evaluate = ["--candidates", "7x3", "--selection", "rerank=@ar", "--limit", 5]
[[cell]]
row = "plain"
column = "distilled"
model = "student"
)";

class TableFile : public testing::Test {
 protected:
  TableFile() { write("x.toml", ""); }

  void write(const std::string& name, const std::string& text) const {
    write_file_atomically(folder_ / name, text);
  }
  Table read(const std::string& text) const {
    write("table.toml", text);
    return read_table(folder_ / "table.toml");
  }
  std::string problem(const std::string& text) const {
    std::string said;
    try {
      read(text);
      ADD_FAILURE() << "nothing was thrown";
    } catch (const UsageError& error) {
      said = error.what();
    }
    return said;
  }
  // The table above with a part of it changed.
  static std::string with(const std::string& part, const std::string& other) {
    std::string text = kWholeTable;
    const size_t at = text.find(part);
    EXPECT_NE(at, std::string::npos) << part;
    return text.replace(at, part.size(), other);
  }

  test::TemporaryFolder folder_;
};

TEST_F(TableFile, IsReadInTheOrderOfTheFile) {
  const Table table = read(kWholeTable);
  EXPECT_EQ(table.title, "A table of x");
  EXPECT_EQ(table.name(), "table");
  ASSERT_EQ(table.models.size(), 3u);
  EXPECT_EQ(table.models[0].name, "zebra");
  EXPECT_THAT(table.models[0].recipes, ElementsAre(folder_ / "x.toml"));
  EXPECT_THAT(table.models[0].seeds, ElementsAre(1, 2));
  EXPECT_EQ(table.models[1].name, "ar");
  EXPECT_THAT(table.models[1].seeds, ElementsAre(7));
  EXPECT_THAT(table.models[1].overrides, ElementsAre("train.steps=10"));
  ASSERT_EQ(table.distilled.size(), 1u);
  EXPECT_EQ(table.distilled[0].teacher, "ar");
  EXPECT_EQ(table.distilled[0].beam, 3);
  EXPECT_THAT(table.rows(), ElementsAre("plain", "reranked"));
  EXPECT_THAT(table.column_groups(), ElementsAre("raw", "distilled"));
  EXPECT_THAT(table.cells[1].evaluate,
              ElementsAre("--candidates", "7x3", "--selection", "rerank=@ar", "--limit", "5"));
  EXPECT_EQ(table.columns[0].title, "BLEU");
  EXPECT_EQ(table.columns[1].title, "accuracy");
  EXPECT_EQ(table.columns[1].decimals, 4);
}

TEST_F(TableFile, TakesSeveralRecipesOfAModel) {
  fs::create_directories(folder_ / "methods");
  write("methods/m-x.toml", "");
  const Table table =
      read(with("recipe = \"x.toml\"", "recipe = [\"{task}.toml\", \"methods/m-{task}.toml\"]"));
  EXPECT_THAT(table.models[2].recipes,
              ElementsAre(folder_ / "x.toml", folder_ / "methods/m-x.toml"));
  EXPECT_THAT(problem(with("recipe = \"x.toml\"", "recipe = [\"x.toml\", \"none.toml\"]")),
              HasSubstr("there is no recipe '" + (folder_ / "none.toml").string()));
  EXPECT_THAT(problem(with("recipe = \"x.toml\"", "recipe = []")),
              HasSubstr("the model 'student' needs a recipe"));
  EXPECT_THAT(problem(with("recipe = \"x.toml\"", "recipe = { a = 1 }")),
              HasSubstr("table.toml:22: 'recipe' must be a list of strings"));
}

TEST_F(TableFile, SpreadsASweepOverRowsAndColumns) {
  const Table table = read(
      "base = 'ours, r = 0.25'\n[model.m]\nrecipe = 'x.toml'\n"
      "[[cell]]\nrow = 'ours'\nmodel = 'm'\nevaluate = ['--limit', 9]\n"
      "sweep = { '--r' = [0.25, 1], '--a' = [2, 5, 10] }\n");
  EXPECT_THAT(table.rows(), ElementsAre("ours, r = 0.25", "ours, r = 1"));
  EXPECT_THAT(table.column_groups(), ElementsAre("a = 2", "a = 5", "a = 10"));
  ASSERT_EQ(table.cells.size(), 6u);
  EXPECT_THAT(table.cells[1].evaluate, ElementsAre("--limit", "9", "--r", "0.25", "--a", "5"));
}

TEST_F(TableFile, SpreadsASweepOfOneOptionOverColumns) {
  const Table table = read(
      "[model.m]\nrecipe = 'x.toml'\n[[cell]]\nrow = 'a'\nmodel = 'm'\n"
      "sweep = { '--steps' = [1, 2] }\n[[cell]]\nrow = 'b'\nmodel = 'm'\n"
      "sweep = { '--steps' = [2] }\n");
  EXPECT_THAT(table.rows(), ElementsAre("a", "b"));
  EXPECT_THAT(table.column_groups(), ElementsAre("steps = 1", "steps = 2"));
}

TEST_F(TableFile, LeavesOutOfASweepWhatIsTooMuch) {
  const std::string text =
      "[model.m]\nrecipe = 'x.toml'\n[[cell]]\nrow = 'a'\ncolumn = 'c'\nmodel = 'm'\n"
      "sweep = { '--candidates' = ['1x5', '7x3'], '--steps' = [1, 4, 20] }\n";
  const Table table = read(text + "at_most = 84\n");
  ASSERT_EQ(table.cells.size(), 4u);  // 1x5 with 1 and 4 steps, 7x3 with 1 and 4
  EXPECT_EQ(table.cells[3].series, "a, c");
  EXPECT_THAT(table.cells[3].swept,
              ElementsAre(std::pair("candidates", "7x3"), std::pair("steps", "4")));
  EXPECT_EQ(read(text + "at_most = 100\n").cells.size(), 5u);
  EXPECT_THAT(problem(text + "at_most = 4\n"), HasSubstr("leaves nothing of the sweep"));
  EXPECT_THAT(problem(text + "at_most = 'x'\n"), HasSubstr("a number of at least 1"));
  EXPECT_THAT(problem("[model.m]\nrecipe = 'x.toml'\n[[cell]]\nrow = 'a'\nmodel = 'm'\n"
                      "at_most = 4\n"),
              HasSubstr("table.toml:3: 'at_most' needs a sweep"));
}

TEST_F(TableFile, MayAskForAFront) {
  const std::string cell =
      "[model.m]\nrecipe = 'x.toml'\n[[cell]]\nrow = 'a'\nmodel = 'm'\n"
      "sweep = { 'process.r' = [0, 1], '--steps' = [1, 2] }\n";
  const Table table = read("[front]\ncost = 'passes'\nscore = 'bleu'\nbudgets = [6]\n" + cell);
  ASSERT_TRUE(table.front.has_value());
  EXPECT_EQ(table.front->cost.title, "passes");
  EXPECT_THAT(table.front->budgets, ElementsAre(6));
  EXPECT_EQ(table.cells[2].series, "a, r = 1") << "another model is another series";
  EXPECT_THAT(problem("[front]\ncost = 'passes'\n" + cell), HasSubstr("a cost and a score"));
  EXPECT_THAT(problem("[front]\ncost = 'passes'\nscore = 'blue'\n" + cell),
              HasSubstr("table.toml:1: there is no column 'blue' (did you mean 'bleu'?)"));
  EXPECT_THAT(problem("[front]\ncost = 'passes'\nscore = 'bleu'\nbest = 'most'\n" + cell),
              HasSubstr("must be \"highest\" or \"lowest\""));
  EXPECT_THAT(problem("[front]\ncost = 'passes'\nscore = 'bleu'\nbudgets = [0]\n" + cell),
              HasSubstr("table.toml:4: 'budgets' must be"));
}

TEST_F(TableFile, TrainsAModelForEveryValueOfASweptKey) {
  const Table table = read(
      "[model.m]\nrecipe = 'x.toml'\noverrides = ['train.steps=9']\n[[cell]]\nrow = 'a'\n"
      "model = 'm'\nsweep = { 'process.r' = [0, 0.5], '--steps' = [1, 2] }\n"
      "[[cell]]\nrow = 'b'\nmodel = 'm'\nsweep = { 'process.r' = [0.5] }\n");
  EXPECT_THAT(table.rows(), ElementsAre("a, r = 0", "a, r = 0.5", "b"));
  EXPECT_THAT(table.column_groups(), ElementsAre("steps = 1", "steps = 2", "r = 0.5"));
  ASSERT_EQ(table.models.size(), 3u);  // none of them twice
  const Model* half = table.find_model("m-r-0.5");
  ASSERT_NE(half, nullptr);
  EXPECT_THAT(half->overrides, ElementsAre("train.steps=9", "process.r=0.5"));
  EXPECT_EQ(table.cells[3].model, "m-r-0.5");
  EXPECT_THAT(table.cells[3].evaluate, ElementsAre("--steps", "2"));
  EXPECT_EQ(table.cells[4].model, "m-r-0.5");
}

TEST_F(TableFile, ChangesWhatItIncludes) {
  write("first.toml", kWholeTable);
  write("y.toml", "");
  const Table table =
      read("include = 'first.toml'\nseeds = [3]\n[set]\ntask = 'y'\n[model.ar]\nseeds = [8]\n");
  EXPECT_EQ(table.title, "A table of y");
  EXPECT_THAT(table.models[0].recipes, ElementsAre(folder_ / "y.toml"));
  EXPECT_THAT(table.models[0].seeds, ElementsAre(3));
  EXPECT_THAT(table.models[1].seeds, ElementsAre(8));
  EXPECT_THAT(table.models[1].overrides, ElementsAre("train.steps=10"));
  EXPECT_EQ(table.cells.size(), 3u);
  EXPECT_EQ(table.name(), "table");
}

TEST_F(TableFile, PutsWhatIsSetIntoNamesAndSweeps) {
  const Table table = read(
      "[set]\nwhich = 'raw'\nwho = 'm'\nsteps = '7'\n[data]\nraw = ''\n"
      "[distilled.kd]\nteacher = '{who}'\nof = '{which}'\n"
      "[model.m]\nrecipe = 'x.toml'\ndata = '{which}'\n"
      "[[cell]]\nrow = 'a'\nmodel = 'm'\nsweep = { '--steps' = ['{steps}'] }\n");
  EXPECT_EQ(table.models[0].data, "raw");
  EXPECT_EQ(table.distilled[0].teacher, "m");
  EXPECT_EQ(table.distilled[0].of, "raw");
  EXPECT_THAT(table.cells[0].evaluate, ElementsAre("--steps", "7"));
}

TEST_F(TableFile, SaysAllThatIsMisspeltWithItsLine) {
  const std::string said = problem(
      "titel = 'x'\ncolumns = ['blue']\n[model.m]\nrecipe = 'x.toml'\nover = []\n"
      "[[cell]]\nrow = 'a'\nmodel = 'm'\nevalute = []\n");
  EXPECT_THAT(said, AllOf(HasSubstr("table.toml:1: unknown key 'titel' (did you mean 'title'?)"),
                          HasSubstr("table.toml:2: unknown column 'blue' (did you mean 'bleu'?)"),
                          HasSubstr("table.toml:5: unknown key 'over'"),
                          HasSubstr("table.toml:9: unknown key 'evalute' (did you mean "
                                    "'evaluate'?)")));
}

TEST_F(TableFile, SuggestsTheNearestName) {
  EXPECT_THAT(problem(with("model = \"student\"", "model = \"studnet\"")),
              HasSubstr("there is no model 'studnet' (did you mean 'student'?)"));
  EXPECT_THAT(problem(with("rerank=@ar", "rerank=@aar")), HasSubstr("there is no model 'aar'"));
  EXPECT_THAT(problem(with("base = \"plain\"", "base = \"plian\"")),
              HasSubstr("there is no row 'plian' (did you mean 'plain'?)"));
  EXPECT_THAT(problem(with("data = \"kd\"", "data = \"dk\"")),
              HasSubstr("there is no corpus 'dk' (did you mean 'kd'?)"));
  EXPECT_THAT(problem(with("teacher = \"ar\"", "teacher = \"zebar\"")),
              HasSubstr("(did you mean 'zebra'?)"));
  EXPECT_THAT(problem(with("\"{task}.toml\"", "\"{taks}.toml\"")),
              HasSubstr("[set] has no 'taks', which"));
}

TEST_F(TableFile, RefusesWhatCannotBe) {
  EXPECT_THAT(problem(with("recipe = \"x.toml\"", "recipe = \"none.toml\"")),
              HasSubstr("there is no recipe '" + (folder_ / "none.toml").string()));
  EXPECT_THAT(problem(with("column = \"distilled\"", "column = \"raw\"")),
              HasSubstr("there is a cell 'plain' in column 'raw' already"));
  EXPECT_THAT(problem(with("seeds = [7]", "seeds = [7, 7]")), HasSubstr("each of them once"));
  EXPECT_THAT(problem(with("seeds = [7]", "seeds = []")), HasSubstr("list of integers"));
  EXPECT_THAT(problem(with("--limit", "--out")), HasSubstr("--out is set by the experiment"));
  EXPECT_THAT(problem("title = 'nothing'\n"), HasSubstr("at least one [[cell]]"));
  EXPECT_THAT(problem("[model.m]\n[model.m]\n"), HasSubstr("table.toml:2"));  // a name twice
  EXPECT_THAT(problem("title = \n"), HasSubstr("table.toml:"));
  EXPECT_THAT(problem("include = 'table.toml'\n"), HasSubstr("too deeply"));
  EXPECT_THAT(complaint([&] { read_table(folder_ / "nowhere.toml"); }), HasSubstr("nowhere.toml"));
}

TEST_F(TableFile, RefusesNumbersThatCannotBeShown) {
  EXPECT_THAT(problem("columns = [{ key = 'bleu', decimals = 1000000000 }]\n"),
              HasSubstr("'decimals' must be an integer from 0 to 15"));
}

TEST_F(TableFile, RefusesASweepOfNoOption) {
  for (const char* none : {"-", "--", ""})
    EXPECT_THAT(
        problem(fmt::format("[[cell]]\nrow = 'a'\nmodel = 'm'\nsweep = {{ '{}' = [1] }}\n", none)),
        HasSubstr("table.toml:4: '" + std::string(none) + "' is not the name of an option"));
}

TEST_F(TableFile, RefusesASweepOfMillions) {
  std::string values;
  for (int k = 0; k < 2000; ++k) values += fmt::format("{},", k);
  EXPECT_THAT(problem("[model.m]\nrecipe = \"x.toml\"\n[[cell]]\nrow = 'a'\nmodel = 'm'\n"
                      "sweep = { --steps = [" +
                      values + "], --candidates = [" + values + "] }\n"),
              HasSubstr("more than 10000 cells"));
}

TEST_F(TableFile, RefusesATeacherThatLearnsFromItself) {
  const std::string said = problem(
      "[data]\nraw = ''\n[distilled.kd]\nteacher = 'a'\nof = 'raw'\n"
      "[model.a]\nrecipe = 'x.toml'\ndata = 'kd'\n[[cell]]\nrow = 'a'\nmodel = 'a'\n");
  EXPECT_THAT(said, AllOf(HasSubstr("table.toml:3"), HasSubstr("'kd' is needed to make itself")));
}

TEST(Tables, OfThePaperCanAllBeRead) {
  const fs::path folder = fs::path(TESSERA_SOURCE_DIR) / "recipes/tables";
  std::set<std::string> seen;
  for (const auto& entry : fs::directory_iterator(folder)) {
    SCOPED_TRACE(entry.path());
    const Table table = read_table(entry.path());
    EXPECT_THAT(table.title, Not(HasSubstr("{")));
    seen.insert(table.name());
    const bool text = !table.name().starts_with("images") && !table.name().starts_with("cifar10");
    EXPECT_FALSE(text && table.base.empty());
    // All models of a table use its own data, even if it includes another table.
    const std::string task = text ? table.name().substr(table.name().find('-') + 1) : "cifar10";
    for (const Model& model : table.models)
      EXPECT_TRUE(model.recipes.front().stem().string().starts_with(task)) << model.name;
  }
  for (const char* task : {"multi30k", "iwslt14", "wmt14", "wmt16", "gigaword"})
    for (const char* table : {"table1-", "table2-", "table3-", "table4a-", "table4b-", "table4c-"})
      EXPECT_TRUE(seen.contains(std::string(table) + task)) << table << task;
  EXPECT_TRUE(seen.contains("table5-gigaword"));
  EXPECT_TRUE(seen.contains("table5-iwslt14"));
  for (const char* table :
       {"cifar10-paper", "cifar10-short", "cifar10-vq", "images-codings", "images-pixels",
        "images-sampling", "images-steps", "lengths-multi30k", "pareto-multi30k", "fair-multi30k",
        "distilled-multi30k", "rates-multi30k"})
    EXPECT_TRUE(seen.contains(table)) << table;
}

TEST(Tables, TakeValuesFromOutside) {
  const fs::path folder = fs::path(TESSERA_SOURCE_DIR) / "recipes/tables";
  const Table table = read_table(folder / "images-steps.toml", {{"features", "f.pt"}});
  EXPECT_THAT(table.cells.front().evaluate, testing::Contains("f.pt"));
  EXPECT_THAT(complaint([&] {
                read_table(folder / "images-steps.toml", {{"feature", "f.pt"}});
              }),
              HasSubstr("did you mean 'features'"));
}

TEST(Tables, HaveThePapersRows) {
  const fs::path folder = fs::path(TESSERA_SOURCE_DIR) / "recipes/tables";
  const Table first = read_table(folder / "table1-multi30k.toml");
  EXPECT_THAT(first.rows(),
              ElementsAre("Transformer, beam 5", "D3PM (absorbing)", "D3PM (uniform)", "DiffuSeq",
                          "SeqDiffuSeq", "Difformer base", "Difformer", "SEDD", "Dinoiser", "MDLM",
                          "UDLM", "Ours (VP)", "Ours (OT)", "Ours (OT) + rerank"));
  EXPECT_THAT(first.column_groups(), ElementsAre("raw", "distilled"));
  for (const Model& model : first.models) EXPECT_GE(model.seeds.size(), 2u) << model.name;
  const Table fair = read_table(folder / "fair-multi30k.toml", {{"rate_mdlm", "1e-3"}});
  for (const Model& model : fair.models) {
    if (model.name == "transformer") continue;  // as its recipe has it
    const char* rate = model.name == "mdlm" ? "1e-3" : "7e-4";
    EXPECT_THAT(model.overrides,
                ElementsAre("train.steps=3500", "train.warmup=1000", "data.tokens=12000",
                            std::string("train.learning_rate=") + rate))
        << model.name;
  }
  EXPECT_THAT(fair.column_groups(),
              ElementsAre("beam 5", "steps = 1", "steps = 5", "steps = 20", "steps = 50",
                          "steps = 20, lengths of the references", "steps = 200"));
  // No row's learning rate is chosen from others than another's.
  const Table rates = read_table(folder / "rates-multi30k.toml");
  EXPECT_EQ(rates.rows().size(), fair.rows().size() - 1);  // all but the Transformer's
  EXPECT_EQ(rates.cells.size(), 3 * rates.rows().size());
  for (const Cell& cell : rates.cells) {
    EXPECT_THAT(cell.evaluate, testing::Contains("valid"));
    EXPECT_THAT(rates.find_model(cell.model)->overrides, testing::Contains("train.steps=1000"));
  }
  EXPECT_THAT(read_table(folder / "cifar10-paper.toml").rows(),
              testing::IsSupersetOf({"DDPM", "DDIM", "D3PM Gauss", "D3PM Uniform", "D3PM Absorbing",
                                     "τLDR-0", "τLDR-10", "MDLM", "Bit Diffusion (bits, r = 0)",
                                     "fixed, r = 0.3", "trainable, r = 0.5"}));
  const Table quick = read_table(folder / "cifar10-short.toml");
  EXPECT_THAT(quick.rows(),
              ElementsAre("DDPM", "DDIM", "D3PM Gauss", "D3PM Uniform", "D3PM Absorbing", "MDLM",
                          "τLDR-0", "τLDR-10", "Bit Diffusion (bits, r = 0)", "bits, r = 0.5"));
  for (const Cell& cell : quick.cells)
    EXPECT_EQ(quick.find_model(cell.model)->recipes.front().stem(), "cifar10-short");
  const Table distilled = read_table(folder / "distilled-multi30k.toml");
  for (const Cell& cell : distilled.cells) {
    const Model& model = *distilled.find_model(cell.model);
    EXPECT_EQ(model.seeds.size(), 1u);
    EXPECT_EQ(model.data, model.name == "transformer" ? "raw" : "distilled");
  }
  EXPECT_THAT(read_table(folder / "cifar10-vq.toml").rows(),
              ElementsAre("D3PM-VQ", "τLDR-VQ", "SDDM-VQ", "UDLM-VQ", "MDLM-VQ"));
  const Table sweep = read_table(folder / "table4a-multi30k.toml");
  EXPECT_EQ(sweep.rows().size(), 5u);
  EXPECT_EQ(sweep.column_groups().size(), 6u);
  const Table codings = read_table(folder / "images-codings.toml");
  EXPECT_EQ(codings.models.size(), 3u + 3u * 4u);  // four r of each coding
  EXPECT_EQ(codings.rows().size(), 6u);            // deterministic and Gaussian
  EXPECT_THAT(codings.column_groups(), ElementsAre("r = 0", "r = 0.2", "r = 0.3", "r = 0.5"));
  EXPECT_THAT(read_table(folder / "images-pixels.toml").rows(), ElementsAre("x0-DDPM", "x0-DDIM"));
}

}  // namespace
}  // namespace tessera::experiment
