#include "text/sentences.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tessera::text {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> sentences(std::string_view text) {
  return split_sentences(text).sentences;
}

TEST(Sentences, EndWithAMarkBeforeABlankAndACapital) {
  EXPECT_THAT(sentences("Ein Hund. Zwei Hunde! Drei Hunde? Vier …"),
              ElementsAre("Ein Hund.", "Zwei Hunde!", "Drei Hunde?", "Vier …"));
  EXPECT_THAT(sentences("Wait... What?! No."), ElementsAre("Wait...", "What?!", "No."));
  EXPECT_THAT(sentences("Es war 1990. 20 Jahre später kam er."),
              ElementsAre("Es war 1990.", "20 Jahre später kam er."));
  EXPECT_THAT(sentences("Écoute ! Àla table. Éric vient."),
              ElementsAre("Écoute !", "Àla table.", "Éric vient."));
  EXPECT_THAT(sentences("¡Hola! ¿Qué tal? ¡Bien!"), ElementsAre("¡Hola!", "¿Qué tal?", "¡Bien!"));
  EXPECT_THAT(sentences("no mark at all"), ElementsAre("no mark at all"));
}

TEST(Sentences, GoOnBeforeALowerCaseWordAndWithoutABlank) {
  for (const char* text :
       {"Was? fragte er.", "Sie kam usw. und ging.", "Er war am 3. dort.", "Yahoo! is a company.",
        "Siehe www.example.org/a.html und a@b.de.", "It costs 3.50 or 1.000.000.",
        "The file is named Readme.Txt.", "und … weiter", "at 5 p.m. on Monday"})
    EXPECT_THAT(sentences(text), ElementsAre(text));
}

TEST(Sentences, GoOnAfterAbbreviations) {
  for (const char* text :
       {// German
        "Dr. Müller kennt Prof. Dr. Schmidt.", "Tiere, z. B. Hunde, d. h. Säugetiere.",
        "Tiere, z.B. Hunde, i. d. R. Säugetiere.", "Siehe Nr. 5 und Abb. 3.", "Vgl. Kap. 4.",
        "Hr. Meier und Fr. Meier wohnen in St. Gallen.", "Anna Meier, geb. Schulz, kam ca. 1990.",
        // English
        "Mr. Smith met Mrs. Jones and Dr. Who.", "J. S. Bach and George W. Bush",
        "The U.S. Senate, e.g. Sen. Brown vs. Gov. White", "See No. 5, pp. 3 and Fig. 7.",
        // French
        "M. Dupont et Mme. Durand, av. J.-C. Martin", "Voir p. ex. Paris, vol. 3.",
        // Spanish
        "El Sr. García y la Sra. Pérez", "Los EE. UU. son grandes, pág. 5."})
    EXPECT_THAT(sentences(text), ElementsAre(text));
}

TEST(Sentences, EndAfterWordsThatOnlyLookLikeAbbreviations) {
  EXPECT_THAT(sentences("No. That is wrong."), ElementsAre("No.", "That is wrong."));
  EXPECT_THAT(sentences("Das ist eine Art. Dann kam er."),
              ElementsAre("Das ist eine Art.", "Dann kam er."));
  EXPECT_THAT(sentences("Äpfel, Birnen usw. Dann kam er."),
              ElementsAre("Äpfel, Birnen usw.", "Dann kam er."));
  EXPECT_THAT(sentences("So am I. You can't. Well."),
              ElementsAre("So am I.", "You can't.", "Well."));
}

TEST(Sentences, GoOnAfterOrdinalNumbersAndNumbersOfItems) {
  for (const char* text : {"Am 3. Oktober 1990 im 20. Jahrhundert", "Der 1. FC Köln", "1. Der Hund",
                           "12. Zwölftens", "IV. Das Ende", "a. Dogs"})
    EXPECT_THAT(sentences(text), ElementsAre(text));
  EXPECT_THAT(sentences("Er ist 12. Sie ist 10."), ElementsAre("Er ist 12.", "Sie ist 10."));
  EXPECT_THAT(sentences("1. Ein Hund. 2. Zwei Hunde."),
              ElementsAre("1. Ein Hund.", "2. Zwei Hunde."));
}

TEST(Sentences, KeepClosingQuotesAndBrackets) {
  EXPECT_THAT(sentences("„Komm!“ Er ging. »Nein.« Gut."),
              ElementsAre("„Komm!“", "Er ging.", "»Nein.«", "Gut."));
  EXPECT_THAT(sentences("\"Run!\" Peter said. 'Yes.' “Why?” ‘So.’"),
              ElementsAre("\"Run!\"", "Peter said.", "'Yes.'", "“Why?”", "‘So.’"));
  EXPECT_THAT(sentences("« Bonjour ! » Il sourit. « Oui. » Elle part."),
              ElementsAre("« Bonjour ! »", "Il sourit.", "« Oui. »", "Elle part."));
  EXPECT_THAT(sentences("(Er kam.) Dann ging er."), ElementsAre("(Er kam.)", "Dann ging er."));
  EXPECT_THAT(sentences("Der Hund (welcher?) Anna gehört"),
              ElementsAre("Der Hund (welcher?) Anna gehört"));
  EXPECT_THAT(sentences("„Komm!“, sagte er. Ja. – Nein."),
              ElementsAre("„Komm!“, sagte er.", "Ja.", "– Nein."));
}

TEST(Sentences, GoOnAfterDotsForSomethingLeftOut) {
  EXPECT_THAT(sentences("Der … Hund und der ... Hund"), ElementsAre("Der … Hund und der ... Hund"));
  EXPECT_THAT(sentences("Ich weiß nicht... Vielleicht."),
              ElementsAre("Ich weiß nicht...", "Vielleicht."));
}

TEST(Sentences, EndWithEveryLine) {
  EXPECT_THAT(sentences("Titel\n\nein Hund\r\nzwei\u2028drei"),
              ElementsAre("Titel", "ein Hund", "zwei", "drei"));
  EXPECT_THAT(split_sentences("Titel\n\nein Hund. Zwei", {.line_ends = false}).sentences,
              ElementsAre("Titel\n\nein Hund.", "Zwei"));
}

TEST(Sentences, OfOtherScripts) {
  EXPECT_THAT(sentences("我是狗。你是猫！好吗？"), ElementsAre("我是狗。", "你是猫！", "好吗？"));
  EXPECT_THAT(sentences("هل أنت هنا؟ نعم."), ElementsAre("هل أنت هنا؟", "نعم."));
  EXPECT_THAT(sentences("שלום. מה שלומך?"), ElementsAre("שלום.", "מה שלומך?"));
  EXPECT_THAT(sentences("Привет. Как дела?"), ElementsAre("Привет.", "Как дела?"));
}

TEST(Sentences, KeepTheGaps) {
  const SentenceSplit split = split_sentences("  Ein Hund.\t\u00A0Zwei. \n\n Drei ");
  EXPECT_THAT(split.sentences, ElementsAre("Ein Hund.", "Zwei.", "Drei"));
  EXPECT_THAT(split.gaps, ElementsAre("  ", "\t\u00A0", " \n\n ", " "));
}

TEST(Sentences, AreNoneInBlanks) {
  for (const char* text : {"", " ", "\n \t\r\n"}) {
    const SentenceSplit split = split_sentences(text);
    EXPECT_THAT(split.sentences, IsEmpty());
    EXPECT_THAT(split.gaps, ElementsAre(text));
    EXPECT_EQ(join_sentences(split), text);
  }
}

TEST(Sentences, TakeMarksAlone) {
  EXPECT_THAT(sentences("..."), ElementsAre("..."));
  EXPECT_THAT(sentences(". . ."), ElementsAre(". . ."));
  EXPECT_THAT(sentences("🙂 !"), ElementsAre("🙂 !"));
  EXPECT_EQ(join_sentences(split_sentences("a\xFF. B")), "a\uFFFD. B");
}

// Time grows with the length alone.
TEST(Sentences, ManyBlanksAndMarksTakeNoLonger) {
  const std::string blanks(500'000, ' ');
  std::string marks;
  for (int k = 0; k < 250'000; ++k) marks += ". ";
  std::string quotes = "a!";
  for (int k = 0; k < 250'000; ++k) quotes += " »";
  for (const std::string& text : {blanks + "a" + blanks, marks, quotes, std::string(500'000, '.'),
                                  "a" + std::string(500'000, '"'), "." + blanks + "a"})
    EXPECT_EQ(join_sentences(split_sentences(text)), text);
}

}  // namespace
}  // namespace tessera::text
