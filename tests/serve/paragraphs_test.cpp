#include "serve/paragraphs.h"

#include "serve/fake_translator.h"
#include "serve/refusal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tessera::serve {
namespace {

using test::FakeTranslator;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string translated(const std::string& text, const PassageOptions& options = {}) {
  FakeTranslator service;
  return translate_passages(service, {{text}}, options, {}).passages.at(0).text;
}

std::string translated_html(const std::string& html, const PassageOptions& options = {}) {
  FakeTranslator service;
  return translate_passages(service, {{html, true}}, options, {}).passages.at(0).text;
}

TEST(Paragraphs, AreTranslatedSentenceBySentence) {
  EXPECT_EQ(translated("Ein Hund. Zwei Hunde.\n\n Drei "), "[Ein Hund.] [Zwei Hunde.]\n\n [Drei] ");
  EXPECT_EQ(translated("Ein Hund. Zwei\nDrei ", {.split = false}), "[Ein Hund. Zwei\nDrei] ");
  EXPECT_EQ(translated("Ein Hund. Zwei\nDrei", {.line_ends = false}), "[Ein Hund.] [Zwei\nDrei]");
}

TEST(Paragraphs, WithoutLettersStay) {
  FakeTranslator service;
  for (const char* text : {"", " ", "🙂🙂", "12, 34!", "...\n---", "\u200D"}) {
    EXPECT_EQ(translate_passages(service, {{text}}, {}, {}).passages.at(0).text, text);
    EXPECT_EQ(translate_passages(service, {{text, true}}, {}, {}).passages.at(0).text, text);
  }
  EXPECT_THAT(service.text_jobs, IsEmpty()) << "nothing to compute";
  EXPECT_EQ(translated("🙂\nHund\n12."), "🙂\n[Hund]\n12.");
}

TEST(Paragraphs, OfARequestAreOneJobWithoutRepetitions) {
  FakeTranslator service;
  const TranslatedPassages all = translate_passages(
      service, {{"A. B. A."}, {"12"}, {"<p>B.</p>", true}}, {}, {.model = 2, .seed = 5});
  ASSERT_EQ(service.text_jobs.size(), 1u);
  EXPECT_EQ(service.text_jobs[0].model, 2u);
  EXPECT_EQ(service.text_jobs[0].seed, 5u);
  EXPECT_THAT(service.text_jobs[0].texts, ElementsAre("A. B. A.", "B."))
      << "single letters are taken for initials";
  EXPECT_EQ(all.passages.size(), 3u);
  const TranslatedPassages equal = translate_passages(service, {{"Au. Bö. Au."}}, {}, {});
  EXPECT_THAT(service.text_jobs[1].texts, ElementsAre("Au.", "Bö."));
  EXPECT_EQ(equal.passages[0].text, "[Au.] [Bö.] [Au.]");
  EXPECT_THAT(equal.passages[0].sentences, ElementsAre(0u, 1u, 0u));
  EXPECT_EQ(equal.results.size(), 2u);
  EXPECT_EQ(equal.times.batch_texts, 1);
}

TEST(Paragraphs, OfHtmlKeepTheirTags) {
  EXPECT_EQ(translated_html("<p>Ein <b class='x'>kleiner</b>\n Hund. Zwei</p>"),
            "<p>[Ein] <b class='x'>[kleiner]</b>\n [Hund.] [Zwei]</p>");
  EXPECT_EQ(translated_html("Ein\nHund<br>Zwei"), "[Ein\nHund]<br>[Zwei]");
  EXPECT_EQ(translated_html("<pre>Ein\nHund</pre>"), "<pre>[Ein]\n[Hund]</pre>");
  EXPECT_EQ(translated_html("a &lt; b &amp;&nbsp;c"), "[a &lt; b &amp;&nbsp;c]");
  EXPECT_EQ(translated_html("1 &lt; 2 &foo; <script>a()</script>"),
            "1 &lt; 2 &foo; <script>a()</script>");
  EXPECT_EQ(translated_html("Ja.&nbsp;&lt;&lt; Nein"), "[Ja.&nbsp;&lt;&lt; Nein]");
  EXPECT_EQ(translated_html("Ein <Hund"), "[Ein] <Hund");
}

TEST(Paragraphs, AlternativesAreOtherCandidates) {
  FakeTranslator service;
  const auto alternatives = [&](const Passage& passage, int64_t wanted) {
    return translate_passages(service, {passage}, {.alternatives = wanted}, {})
        .passages.at(0)
        .alternatives;
  };
  EXPECT_THAT(alternatives({"Hund"}, 0), IsEmpty());
  EXPECT_THAT(alternatives({"Hund"}, -1), IsEmpty());
  EXPECT_THAT(alternatives({"Hund"}, 1), ElementsAre("|Hund|"));
  EXPECT_THAT(alternatives({"Hund"}, 100), ElementsAre("|Hund|", "{Hund}"));
  EXPECT_THAT(alternatives({"Ein Hund. Zwei."}, 9),
              ElementsAre("|Ein Hund.| |Zwei.|", "{Ein Hund.} {Zwei.}"));
  EXPECT_THAT(alternatives({"<b>A &amp; B</b>", true}, 1), ElementsAre("<b>|A &amp; B|</b>"));
  EXPECT_THAT(alternatives({"12"}, 3), IsEmpty());
}

TEST(ModelFor, FindsTheModelOfAPair) {
  const FakeTranslator service;
  EXPECT_EQ(model_for(service, "de", "en"), 0u);
  EXPECT_EQ(model_for(service, "fr", "en"), 2u);
  EXPECT_EQ(model_for(service, "auto", "en"), 0u);
  EXPECT_EQ(model_for(service, "", "pt-BR"), 3u);
  EXPECT_EQ(model_for(service, "DE", "PT_br"), 3u);
  EXPECT_EQ(model_for(service, "", ""), 0u);
  EXPECT_EQ(model_for(service, "fr", ""), 2u);
  EXPECT_EQ(model_for(service, "de", "pt"), 3u) << "another region";
  EXPECT_EQ(model_for(service, "de-AT", "en-GB"), 0u) << "another region";
}

TEST(ModelFor, SaysWhichPairsThereAre) {
  const auto complaint = [](const FakeTranslator& service, const char* from, const char* to) {
    try {
      model_for(service, from, to);
    } catch (const Refusal& refusal) {
      EXPECT_EQ(refusal.status(), 400);
      return std::string(refusal.what()) + "; " + refusal.hint();
    }
    return std::string("none");
  };
  EXPECT_EQ(complaint(FakeTranslator(), "en", "de"),
            "no model here translates texts from 'en' to 'de'; "
            "there is de to en, fr to en, de to pt-br");
  EXPECT_EQ(complaint(FakeTranslator(std::vector<ModelFacts>{}), "", ""),
            "no model here translates texts; the languages of the models are not known");
  EXPECT_THAT(complaint(FakeTranslator({{.name = "x"}}), "de", "en"), HasSubstr("not known"));
  EXPECT_EQ(model_for(FakeTranslator({{.name = "x"}}), "auto", ""), 0u);
}

}  // namespace
}  // namespace tessera::serve
