#include "report/translations.h"

#include "files/files.h"
#include "support/complaint.h"
#include "support/temporary_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace tessera::report {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

class Translations : public testing::Test {
 protected:
  std::vector<TranslatedText> read(const std::string& lines) const {
    write_file_atomically(folder_ / "lines.jsonl", lines);
    return read_translations(folder_ / "lines.jsonl");
  }

  test::TemporaryFolder folder_;
};

constexpr const char* kTwo =
    R"({"source":"ein <hund>","text":"a dog","candidates":[{"text":"dog","expected_bleu":1.5},)"
    R"({"text":"a dog","expected_bleu":9},{"text":"the dog","expected_bleu":3},)"
    R"({"text":"dog","expected_bleu":1.5}]})"
    "\n"
    R"({"source":"ja","text":"yes","candidates":[],"steps":[{"t":2000,"point":"x","estimate":"no"},)"
    R"({"t":0,"point":"yes","estimate":"yes"}]})"
    "\n";

TEST_F(Translations, AreReadWithTheirOtherCandidatesAndSteps) {
  const auto texts = read(kTwo);
  ASSERT_EQ(texts.size(), 2u);
  EXPECT_EQ(texts[0].text, "a dog");
  EXPECT_THAT(texts[0].others, ElementsAre("the dog", "dog")) << "each once, the best first";
  EXPECT_FALSE(texts[0].condensation);
  ASSERT_TRUE(texts[1].condensation);
  EXPECT_EQ(texts[1].condensation->steps.size(), 2u);
}

TEST_F(Translations, BecomeATableOfHtml) {
  const std::string html = translations_section(read(kTwo));
  EXPECT_THAT(html, HasSubstr("<td>ein &lt;hund&gt;</td><td>a dog</td><td>the dog<br>dog</td>"));
  EXPECT_THAT(html, HasSubstr("Step by step: ja"));
  EXPECT_THAT(html, Not(HasSubstr("<hund>")));
  EXPECT_THAT(picture_section("data:x", "\"><script>"), Not(HasSubstr("<script>")));
}

TEST_F(Translations, OfAnotherKindAreRefusedWithTheirLine) {
  for (const char* wrong : {"no json", "3", "{}", R"({"source":1,"text":"a","candidates":[]})",
                            R"({"source":"a","text":"b","candidates":[{"text":"c"}]})",
                            R"({"source":"a","text":"b","candidates":[],"steps":[{}]})"})
    EXPECT_THAT(test::complaint([&] { read(std::string(kTwo) + wrong + "\n"); }),
                HasSubstr("lines.jsonl', line 3"))
        << wrong;
}

}  // namespace
}  // namespace tessera::report
