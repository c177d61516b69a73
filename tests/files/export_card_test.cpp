#include "files/export_card.h"

#include "files/files.h"
#include "support/complaint.h"
#include "support/temporary_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

namespace tessera {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

class ExportCardFiles : public testing::Test {
 protected:
  std::filesystem::path file(const std::string& name, const std::string& text) const {
    write_file_atomically(folder_.path() / name, text);
    return folder_.path() / name;
  }
  ExportCard read(const std::string& text) const {
    const std::vector files{file("card.toml", text)};
    return ExportCard::read(files);
  }

  test::TemporaryFolder folder_;
};

TEST_F(ExportCardFiles, SayEverythingAboutAModel) {
  const ExportCard card = read(
      "title = 'A title'\ndescription = '''\nTwo\nlines.\n'''\nscores = 'BLEU 30'\n"
      "attribution = 'by many'\nlanguages = 'de:EN'\nlicence_file = 'x/LICENSE'\n"
      "classes = ['one', 'two']\n");
  EXPECT_EQ(card.title, "A title");
  EXPECT_EQ(card.description, "Two\nlines.");
  EXPECT_EQ(card.scores, "BLEU 30");
  EXPECT_EQ(card.attribution, "by many");
  EXPECT_EQ(card.languages, (Languages{"de", "en"}));
  EXPECT_EQ(card.licence_file, folder_.path() / "x/LICENSE") << "relative to the card";
  EXPECT_THAT(card.classes, ElementsAre("one", "two"));
  EXPECT_EQ(card.limits, "");
}

TEST_F(ExportCardFiles, AreLaidOverEachOther) {
  const std::vector files{file("a.toml", "title = 'A'\nscores = 'none yet'\n"),
                          file("b.toml", "scores = 'BLEU 30'\n")};
  const ExportCard card = ExportCard::read(files);
  EXPECT_EQ(card.title, "A");
  EXPECT_EQ(card.scores, "BLEU 30");
  EXPECT_EQ(ExportCard::read({}).title, "");
}

TEST_F(ExportCardFiles, AreRefusedWithTheLineThatIsWrong) {
  const auto said = [&](const std::string& text) { return test::complaint([&] { read(text); }); };
  EXPECT_THAT(said("title = 'x'\nscore = 'y'\n"),
              AllOf(HasSubstr("card.toml:2: "), HasSubstr("did you mean 'scores'")));
  EXPECT_THAT(said("title = 3\n"), HasSubstr("card.toml:1: 'title' must be a text"));
  EXPECT_THAT(said("classes = 'one'\n"), HasSubstr("'classes' must be a list of texts"));
  EXPECT_THAT(said("classes = ['one', 2]\n"), HasSubstr("'classes' must be a text"));
  EXPECT_THAT(said("languages = 'german'\n"), HasSubstr("two codes"));
  EXPECT_THAT(said("title = \n"), HasSubstr("card.toml:1: "));
  EXPECT_THAT(said("attribution = \"a\\nb\"\n"), HasSubstr("one line"));
  const std::vector<std::filesystem::path> nowhere{folder_.path() / "nowhere.toml"};
  EXPECT_THAT(test::complaint([&] { ExportCard::read(nowhere); }), HasSubstr("nowhere.toml"));
}

TEST_F(ExportCardFiles, BecomeMarkdownWithTheFactsOfTheProgram) {
  const ExportCard card =
      read("title = 'T'\ndescription = 'D'\nscores = 'S'\nattribution = 'by many'\n");
  EXPECT_EQ(card.markdown({{"parameters", "7"}}, {{"updates", "3"}}, "a = 1\n", "b = 2\n"),
            "# T\n\nD\n\n| model | |\n| --- | --- |\n| parameters | 7 |\n\n## Scores\n\nS\n\n"
            "## Training\n\n| training | |\n| --- | --- |\n| updates | 3 |\n\n## Licence\n\n"
            "by many\n\n## Recipe\n\n```toml\na = 1\n```\n\n## Options\n\n```toml\nb = 2\n```\n");
  EXPECT_THAT(card.markdown({}, {}, "", ""), Not(HasSubstr("## Training")));
}

}  // namespace
}  // namespace tessera
