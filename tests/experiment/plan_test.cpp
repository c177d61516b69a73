#include "experiment/plan.h"

#include "corpus/date_pairs.h"
#include "files/files.h"
#include "image/dataset_writer.h"
#include "support/complaint.h"
#include "support/temporary_folder.h"
#include "train/checkpoints.h"

#include <tessera/base/error.h>

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace tessera::experiment {
namespace {

namespace fs = std::filesystem;
using test::complaint;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kPlanTable = R"(base = "a"
columns = ["rouge1", "bleu.ratio", "rougeL", "nfe"]
[data]
raw = ""
[distilled.kd]
teacher = "ar"
of = "raw"
[model.a]
recipe = "r.toml"
data = "raw"
seeds = [1, 2]
overrides = ["process.r=0"]
[model.ar]
recipe = "r.toml"
data = "raw"
seeds = [2, 3]
[model.student]
recipe = "r.toml"
data = "kd"
seeds = [1]
[[cell]]
row = "a"
model = "a"
[[cell]]
row = "reranked"
model = "a"
evaluate = ["--selection", "rerank=@ar"]
[[cell]]
row = "student"
model = "student"
)";

class PlanOfATable : public testing::Test {
 protected:
  PlanOfATable() : folder_(test::quick_place()), store_(folder_ / "out") {
    write("r.toml", "[train]\nsteps = 10\n");
    corpus::make_date_corpus(folder_ / "corpus", 1, 100);
    corpus::make_date_corpus(folder_ / "other", 2, 100);
  }

  void write(const std::string& name, const std::string& text) const {
    write_file_atomically(folder_ / name, text);
  }
  Plan plan(const std::string& text = kPlanTable, const std::string& corpus = "corpus") {
    write("t.toml", text);
    table_ = read_table(folder_ / "t.toml");
    return make_plan(table_, store_, {{"raw", folder_ / corpus}});
  }
  static std::string with(const std::string& part, const std::string& other) {
    std::string text = kPlanTable;
    const size_t at = text.find(part);
    EXPECT_NE(at, std::string::npos) << part;
    return text.replace(at, part.size(), other);
  }
  static const Job& job(const Plan& plan, const std::string& title) {
    const auto found = std::find_if(plan.jobs.begin(), plan.jobs.end(),
                                    [&](const Job& each) { return each.title == title; });
    EXPECT_NE(found, plan.jobs.end()) << title;
    return found == plan.jobs.end() ? plan.jobs.front() : *found;
  }
  static std::vector<std::string> titles(const Plan& plan, const std::vector<size_t>& jobs) {
    std::vector<std::string> all;
    for (const size_t each : jobs) all.push_back(plan.jobs[each].title);
    return all;
  }

  test::TemporaryFolder folder_;
  ResultStore store_;
  Table table_;
};

TEST_F(PlanOfATable, PutsWhatIsNeededBeforeWhatNeedsIt) {
  const Plan made = plan();
  for (size_t k = 0; k < made.jobs.size(); ++k)
    for (const size_t needed : made.jobs[k].needs) EXPECT_LT(needed, k);
  // "ar" is needed with the same seed if it has that one, else with its first.
  EXPECT_THAT(titles(made, job(made, "evaluate reranked, seed 1").needs),
              ElementsAre("train a, seed 1", "train ar, seed 2"));
  EXPECT_THAT(titles(made, job(made, "evaluate reranked, seed 2").needs),
              ElementsAre("train a, seed 2", "train ar, seed 2"));
  EXPECT_THAT(titles(made, job(made, "train student, seed 1").needs),
              ElementsAre("distill raw by ar"));
  EXPECT_THAT(titles(made, job(made, "distill raw by ar").needs), ElementsAre("train ar, seed 2"));
  EXPECT_EQ(made.cells.size(), 3u);
  EXPECT_THAT(titles(made, made.cells[0]), ElementsAre("evaluate a, seed 1", "evaluate a, seed 2"));
  EXPECT_EQ(made.jobs.size(), 3u + 1 + 1 + 5) << "no training twice, none that no cell needs";
}

TEST_F(PlanOfATable, SaysTheCommands) {
  const Plan made = plan();
  const Job& training = job(made, "train a, seed 2");
  EXPECT_THAT(training.command,
              ElementsAre("train", (folder_ / "r.toml").string(),
                          "data.dir=" + (folder_ / "corpus").string(),
                          "train.out=" + training.folder.string(), "train.seed=2", "process.r=0"));
  EXPECT_THAT(training.resume, ElementsAre("train", "--resume", training.folder.string(),
                                           "data.dir=" + (folder_ / "corpus").string()));
  const Job& distillation = job(made, "distill raw by ar");
  EXPECT_THAT(distillation.command,
              ElementsAre("distill", job(made, "train ar, seed 2").folder.string(), "--data",
                          (folder_ / "corpus").string(), "--out", distillation.folder.string(),
                          "--beam", "5"));
  EXPECT_THAT(job(made, "train student, seed 1").command,
              Contains("data.dir=" + distillation.folder.string()));
  const Job& evaluation = job(made, "evaluate reranked, seed 1");
  EXPECT_THAT(evaluation.command,
              ElementsAre("evaluate", job(made, "train a, seed 1").folder.string(), "--metric",
                          "rouge,bleu", "--selection",
                          "rerank=" + job(made, "train ar, seed 2").folder.string(), "--data",
                          (folder_ / "corpus").string(), "--seed", "1", "--json", "--out",
                          store_.hypotheses(evaluation.name).string()));
}

TEST_F(PlanOfATable, LaysSeveralRecipesOverEachOther) {
  write("m.toml", "[process]\nr = 0.25\n");
  const Plan one = plan(with("process.r=0", "process.r=0.25"));
  const Plan two =
      plan(with("recipe = \"r.toml\"\ndata = \"raw\"\nseeds = [1, 2]\noverrides = "
                "[\"process.r=0\"]",
                "recipe = [\"r.toml\", \"m.toml\"]\ndata = \"raw\"\nseeds = [1, 2]"));
  const Job &by_override = job(one, "train a, seed 1"), &by_recipe = job(two, "train a, seed 1");
  EXPECT_EQ(by_recipe.key, by_override.key) << "of what is trained, not of where it is said";
  EXPECT_TRUE(by_recipe.name.starts_with("r-m-1-")) << by_recipe.name;
  EXPECT_THAT(by_recipe.command,
              ElementsAre("train", (folder_ / "r.toml").string(), (folder_ / "m.toml").string(),
                          "data.dir=" + (folder_ / "corpus").string(),
                          "train.out=" + by_recipe.folder.string(), "train.seed=1"));
}

// The names are those of the program at commit 4838c29. They must stay, so that experiments that
// were begun then can go on.
TEST_F(PlanOfATable, KeepsTheKeysOfModelsWithOneRecipe) {
  write("r.toml",
        "[data]\ntask = 'dates'\npairs = 200\n[model]\nwidth = 16\nfeedforward = 16\nlatent = 8\n"
        "heads = 2\nlayers = 1\n[train]\nsteps = 10\n");
  write("t.toml",
        "[model.m]\nrecipe = 'r.toml'\nseeds = [2]\noverrides = ['process.r=0']\n"
        "[[cell]]\nrow = 'a'\nmodel = 'm'\n");
  const Plan made = make_plan(read_table(folder_ / "t.toml"), store_, {});
  EXPECT_EQ(job(made, "train m, seed 2").name, "r-2-0e963851");
  EXPECT_EQ(job(made, "evaluate a, seed 2").name, "r-2-evaluate-a4514d8b");
}

TEST_F(PlanOfATable, GoesOnWithWhatIsThereUnderTheNameOfOtherRecipes) {
  write("m.toml", "[process]\nr = 0\n");
  const Plan before = plan();
  const Job training = job(before, "train a, seed 1"),
            evaluation = job(before, "evaluate a, seed 1");
  store_.make_folders();
  fs::create_directory(training.folder);
  store_.put(evaluation.name, "key", {{"command", "evaluate"}});
  const Plan after = plan(with("recipe = \"r.toml\"", "recipe = [\"r.toml\", \"m.toml\"]"));
  EXPECT_EQ(job(after, "train a, seed 1").folder, training.folder);
  EXPECT_EQ(job(after, "evaluate a, seed 1").name, evaluation.name);
  EXPECT_TRUE(job(after, "train a, seed 2").name.starts_with("r-m-2-"));
  EXPECT_TRUE(job(after, "evaluate a, seed 2").name.starts_with("r-m-2-evaluate-"));
}

TEST_F(PlanOfATable, KnowsWhatAChangeTouches) {
  const Plan before = plan();
  const auto key = [](const Plan& made, const std::string& title) { return job(made, title).key; };
  {
    const Plan after = plan(with("process.r=0", "process.r=0.5"));
    EXPECT_NE(key(after, "train a, seed 1"), key(before, "train a, seed 1"));
    EXPECT_NE(key(after, "evaluate a, seed 1"), key(before, "evaluate a, seed 1"));
    EXPECT_EQ(key(after, "train ar, seed 2"), key(before, "train ar, seed 2"));
    EXPECT_EQ(key(after, "evaluate student, seed 1"), key(before, "evaluate student, seed 1"));
  }
  {
    const Plan after = plan(with("rerank=@ar\"]", "rerank=@ar\", \"--steps\", 5]"));
    EXPECT_EQ(key(after, "train a, seed 1"), key(before, "train a, seed 1"));
    EXPECT_EQ(key(after, "evaluate a, seed 1"), key(before, "evaluate a, seed 1"));
    EXPECT_NE(key(after, "evaluate reranked, seed 1"), key(before, "evaluate reranked, seed 1"));
  }
  {
    const Plan after = plan(with("of = \"raw\"", "of = \"raw\"\nbeam = 9"));
    EXPECT_NE(key(after, "train student, seed 1"), key(before, "train student, seed 1"));
    EXPECT_EQ(key(after, "train ar, seed 2"), key(before, "train ar, seed 2"));
  }
  {
    const Plan after = plan(kPlanTable, "other");
    EXPECT_NE(key(after, "train a, seed 1"), key(before, "train a, seed 1"));
    EXPECT_NE(key(after, "distill raw by ar"), key(before, "distill raw by ar"));
  }
  {
    fs::rename(folder_ / "corpus", folder_ / "moved");
    const Plan after = plan(kPlanTable, "moved");
    EXPECT_EQ(key(after, "evaluate student, seed 1"), key(before, "evaluate student, seed 1"));
  }
}

TEST_F(PlanOfATable, FilesAnEvaluationUnderTheWeightsItUsed) {
  const Plan made = plan();
  const Job& evaluation = job(made, "evaluate reranked, seed 1");
  const std::string untrained = result_key(evaluation);
  train::Checkpoints helper(job(made, "train ar, seed 2").folder, train::RetentionOptions{});
  const auto save = [&](int64_t step, const std::string& weights) {
    helper.save(step, [&](const fs::path& to) {
      write_file_atomically(to / "model.safetensors", weights);
    });
    return result_key(evaluation);
  };
  const std::string first = save(5, "x"), second = save(10, "y");
  EXPECT_NE(untrained, first);
  EXPECT_NE(first, second);
  EXPECT_EQ(result_key(evaluation), second);
  EXPECT_NE(result_key(job(made, "evaluate a, seed 1")), second);
}

TEST_F(PlanOfATable, FilesAnEvaluationUnderTheExtractorItUsed) {
  Job evaluation = job(plan(), "evaluate a, seed 1");
  EXPECT_EQ(extractor_of(evaluation), std::nullopt);
  for (const char* form : {R"("--features", "f.pt")", R"("--features=f.pt")"}) {
    const Plan made = plan(
        with("model = \"student\"\n", fmt::format("model = \"student\"\nevaluate = [{}]\n", form)));
    EXPECT_EQ(extractor_of(job(made, "evaluate student, seed 1")), "f.pt") << form;
  }
  const fs::path extractor = folder_ / "features.pt";
  evaluation.command.insert(evaluation.command.end(), {"--features", extractor.string()});
  EXPECT_EQ(extractor_of(evaluation), extractor);
  write_file_atomically(extractor, "one network");
  const std::string first = result_key(evaluation);
  write_file_atomically(extractor, "another one");
  EXPECT_NE(result_key(evaluation), first);
}

TEST_F(PlanOfATable, SelectsRowsOrModelsWithWhatTheyNeed) {
  const Plan made = plan();
  const auto selected = [&](const std::vector<std::string>& only) {
    const std::vector<bool> chosen = selected_jobs(table_, made, only);
    std::vector<size_t> jobs;
    for (size_t k = 0; k < chosen.size(); ++k)
      if (chosen[k]) jobs.push_back(k);
    return titles(made, jobs);
  };
  EXPECT_THAT(selected({"student"}),
              ElementsAre("train ar, seed 2", "distill raw by ar", "train student, seed 1",
                          "evaluate student, seed 1"));
  EXPECT_THAT(selected({"ar"}), ElementsAre("train ar, seed 2"))
      << "a model without a cell of its own, with the seed that is needed";
  EXPECT_EQ(selected({}).size(), made.jobs.size());
  EXPECT_EQ(selected({"a"}).size(), 2u + 1 + 4) << "rows of the model a, the reranked one too";
  EXPECT_THAT(complaint([&] { selected({"studnet"}); }), HasSubstr("did you mean 'student'?"));
}

TEST_F(PlanOfATable, TellsARunThatGoesOnWhereFilesAreNow) {
  image::DatasetWriter set(folder_ / "set", {});
  set.add_split("train", image::TensorImages(at::zeros({2, 1, 4, 4}, at::kByte)), {}, 0, 2);
  set.commit({});
  write("r.toml", "[data]\nkind = \"images\"\n");
  write("t.toml",
        "[data]\nset = ''\n[model.m]\nrecipe = 'r.toml'\ndata = 'set'\n"
        "overrides = ['train.features=new.pt', 'process.r=0']\n"
        "[[cell]]\nrow = 'm'\nmodel = 'm'\n");
  const Plan made = make_plan(read_table(folder_ / "t.toml"), store_, {{"set", folder_ / "set"}});
  EXPECT_THAT(job(made, "train m, seed 1").resume,
              ElementsAre("train", "--resume", testing::_, "data.dir=" + (folder_ / "set").string(),
                          "train.features=new.pt"));
  // An extractor is code, so a resumed run loads it only if the command names it.
  write("r.toml", "[data]\nkind = \"images\"\n[train]\nfeatures = \"own.pt\"\n");
  write("t.toml",
        "[data]\nset = ''\n[model.m]\nrecipe = 'r.toml'\ndata = 'set'\n"
        "[[cell]]\nrow = 'm'\nmodel = 'm'\n");
  const Plan other = make_plan(read_table(folder_ / "t.toml"), store_, {{"set", folder_ / "set"}});
  EXPECT_THAT(job(other, "train m, seed 1").resume, testing::Contains("train.features=own.pt"));
}

TEST_F(PlanOfATable, AResultThatIsDamagedIsNoResult) {
  store_.make_folders();
  store_.put("a", "k", {{"evaluation", {{"split", "test"}}}});
  EXPECT_TRUE(store_.find("a", "k").has_value());
  for (const char* damaged :
       {"", "{", "[]", "{\"key\": 5}", "{\"key\": \"k\", \"evaluation\": 5}",
        "{\"key\": \"k\", \"command\": []}", "{\"key\": \"k\", \"evaluation\": {\"split\": 1}}"}) {
    write_file_atomically(store_.result("a"), damaged);
    EXPECT_FALSE(store_.find("a", "k").has_value()) << damaged;
  }
}

// What `tessera experiment FILE --dry-run` reads before it tries anything.
TEST_F(PlanOfATable, IsMadeOfEveryTableOfThePaper) {
  image::DatasetWriter set(folder_ / "set", {});
  set.add_split("train", image::TensorImages(at::zeros({2, 3, 32, 32}, at::kByte)), {}, 0, 2);
  set.commit({});
  for (const auto& entry :
       fs::directory_iterator(fs::path(TESSERA_SOURCE_DIR) / "recipes/tables")) {
    SCOPED_TRACE(entry.path());
    const Table table = read_table(entry.path());
    std::map<std::string, fs::path> data;
    for (const Data& each : table.data)
      data[each.name] = folder_ / (each.name == "cifar10" ? "set" : "corpus");
    EXPECT_GE(make_plan(table, store_, data).jobs.size(), table.cells.size());
  }
}

TEST_F(PlanOfATable, NamesWhatIsNoGood) {
  EXPECT_THAT(complaint([&] { plan(with("process.r=0", "proces.r=0")); }),
              AllOf(HasSubstr("t.toml:8: the model 'a' cannot be trained"),
                    HasSubstr("did you mean 'process.r'?")));
  for (const char* key : {"train.seed", "train.out", "data.dir"})
    EXPECT_THAT(complaint([&] { plan(with("process.r=0", std::string(key) + "=5")); }),
                HasSubstr(std::string("the model 'a' cannot override ") + key));
  EXPECT_THAT(complaint([&] { plan(with("process.r=0", " train.seed = 5")); }),
              HasSubstr("the model 'a' cannot override train.seed"));
  EXPECT_THAT(complaint([&] { plan(kPlanTable, "nowhere"); }), HasSubstr("nowhere"));
  const Table table = read_table(folder_ / "t.toml");
  EXPECT_THAT(complaint([&] { make_plan(table, store_, {}); }),
              AllOf(HasSubstr("the corpus 'raw' has no folder"), HasSubstr("--data raw=DIR")));
  EXPECT_THAT(complaint([&] {
                make_plan(table, store_, {{"rwa", folder_ / "corpus"}});
              }),
              HasSubstr("no corpus 'rwa' (did you mean 'raw'?)"));
  EXPECT_THAT(
      complaint([&] { plan(with("recipe = \"r.toml\"\ndata = \"raw\"", "recipe = \"r.toml\"")); }),
      HasSubstr("the model 'a' has no corpus"));
  EXPECT_THROW(plan(kPlanTable, "nowhere"), UsageError);
}

}  // namespace
}  // namespace tessera::experiment
