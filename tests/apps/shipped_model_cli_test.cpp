#include "image_model/tiny_image_model.h"
#include "seq2seq/tiny_model.h"
#include "support/program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <string>

namespace {

namespace fs = std::filesystem;
using tessera::test::file_text;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// A program in a folder of its own, installed or just built, with models or without.
class ShippedModels : public tessera::test::ProgramTest {
 protected:
  // The program as PLACE/bin/tessera.
  void put_program(const fs::path& place) {
    program_ = folder_ / place / "bin/tessera";
    fs::create_directories(program_.parent_path());
    fs::copy_file(TESSERA_PROGRAM, program_);
  }

  static void put_models(const fs::path& folder) {
    tessera::test::write_tiny_model(folder / "tatoeba-de-en");
    tessera::test::write_tiny_image_model(folder / "fashion");
  }

  Result run_it(const std::string& arguments) const {
    const std::string line = "cd " + folder_.path().string() + " && " + program_.string() +
                             " --device cpu " + arguments + " >out 2>err";
    const int status = std::system(line.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, file_text(folder_ / "out"),
            file_text(folder_ / "err")};
  }

  fs::path program_;
};

TEST_F(ShippedModels, AreUsedWhereNoModelIsNamed) {
  put_program("prefix");
  put_models(folder_ / "prefix/share/tessera/models");
  write("in", "a b c d\nz y x\n");
  const auto unnamed = run_it("generate <in");
  ASSERT_EQ(unnamed.status, 0) << unnamed.err;
  const std::string folder = (folder_ / "prefix/share/tessera/models/tatoeba-de-en").string();
  EXPECT_THAT(unnamed.err, AllOf(HasSubstr("'tatoeba-de-en' translates"), HasSubstr(folder)));
  const auto named = run_it("generate " + folder + " <in");
  EXPECT_EQ(unnamed.out, named.out) << "what it says goes to stderr";
  EXPECT_EQ(named.err, "");
  EXPECT_EQ(run_it("--quiet generate <in").err, "");

  const auto images = run_it("sample --grid grid.png --count 4 --steps 2");
  ASSERT_EQ(images.status, 0) << images.err;
  EXPECT_THAT(images.err, HasSubstr("'fashion' makes images"));
  EXPECT_TRUE(fs::exists(folder_ / "grid.png"));
}

TEST_F(ShippedModels, OfTheSourcesAreUsedByAProgramInItsBuildFolder) {
  put_program("sources/build");
  write("sources/build/CMakeCache.txt", "");
  put_models(folder_ / "sources/models");
  write("in", "a b c d\n");
  const auto result = run_it("generate <in");
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr((folder_ / "sources/models/tatoeba-de-en").string()));
}

TEST_F(ShippedModels, AreFoundThroughALinkToTheProgram) {
  put_program("prefix");
  put_models(folder_ / "prefix/share/tessera/models");
  fs::create_symlink(program_, folder_ / "link");
  program_ = folder_ / "link";
  write("in", "a b c d\n");
  EXPECT_EQ(run_it("generate <in").status, 0);
}

TEST_F(ShippedModels, ThatAreNotThereAreAskedFor) {
  put_program("prefix");
  for (const char* command : {"generate <in", "sample --grid grid.png"}) {
    write("in", "a b c d\n");
    const auto result = run_it(command);
    EXPECT_EQ(result.status, 2) << command;
    EXPECT_THAT(result.err,
                AllOf(HasSubstr("no model was named"), HasSubstr("name a run or a model"),
                      HasSubstr("prefix/share/tessera/models/")));
    EXPECT_EQ(result.out, "");
  }
  // A folder that is not complete is none.
  fs::create_directories(folder_ / "prefix/share/tessera/models/tatoeba-de-en");
  EXPECT_EQ(run_it("generate <in").status, 2);
}

TEST_F(ShippedModels, AreNamedByTheDoctor) {
  put_program("prefix");
  const auto without = nlohmann::json::parse(run_it("--json doctor").out);
  put_models(folder_ / "prefix/share/tessera/models");
  write("prefix/share/tessera/models/note.txt", "not a model");
  const auto with = nlohmann::json::parse(run_it("--json doctor").out);
  const auto models = [](const nlohmann::json& report) {
    for (const auto& finding : report["findings"])
      if (finding["name"] == "models") return finding["text"].get<std::string>();
    return std::string();
  };
  EXPECT_THAT(models(without), HasSubstr("none came with this program"));
  EXPECT_THAT(models(with), AllOf(HasSubstr("fashion, tatoeba-de-en"), Not(HasSubstr("note"))));
}

}  // namespace
