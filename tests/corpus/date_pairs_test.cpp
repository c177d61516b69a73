#include "corpus/date_pairs.h"

#include "corpus/corpus.h"
#include "corpus/date_spelling.h"
#include "support/temporary_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

namespace tessera::corpus {
namespace {

using namespace std::chrono_literals;

std::set<std::string> targets(const std::vector<DatePairs::Pair>& pairs) {
  std::set<std::string> dates;
  for (const auto& pair : pairs) dates.insert(pair.target);
  return dates;
}

TEST(DateSpelling, SaysNumbersAsPeopleDo) {
  EXPECT_EQ(number_words(7), "seven");
  EXPECT_EQ(number_words(30), "thirty");
  EXPECT_EQ(number_words(87), "eighty-seven");
  EXPECT_EQ(ordinal_words(1), "first");
  EXPECT_EQ(ordinal_words(2), "second");
  EXPECT_EQ(ordinal_words(3), "third");
  EXPECT_EQ(ordinal_words(5), "fifth");
  EXPECT_EQ(ordinal_words(8), "eighth");
  EXPECT_EQ(ordinal_words(9), "ninth");
  EXPECT_EQ(ordinal_words(11), "eleventh");
  EXPECT_EQ(ordinal_words(12), "twelfth");
  EXPECT_EQ(ordinal_words(13), "thirteenth");
  EXPECT_EQ(ordinal_words(20), "twentieth");
  EXPECT_EQ(ordinal_words(22), "twenty-second");
  EXPECT_EQ(ordinal_words(30), "thirtieth");
  EXPECT_EQ(ordinal_words(31), "thirty-first");
}

TEST(DateSpelling, SaysYearsAsPeopleDo) {
  EXPECT_EQ(year_words(1900), "nineteen hundred");
  EXPECT_EQ(year_words(1907), "nineteen oh seven");
  EXPECT_EQ(year_words(1987), "nineteen eighty-seven");
  EXPECT_EQ(year_words(2000), "two thousand");
  EXPECT_EQ(year_words(2007), "two thousand and seven");
  EXPECT_EQ(year_words(2010), "twenty ten");
  EXPECT_EQ(year_words(2099), "twenty ninety-nine");
}

TEST(DateSpelling, HasManyForms) {
  const Date date = 1987y / 3 / 3;  // a Tuesday
  std::set<std::string> forms;
  for (size_t k = 0; k < date_forms(); ++k) forms.insert(spell_date(date, k));
  EXPECT_EQ(forms.size(), date_forms());
  EXPECT_GE(forms.size(), 12u);
  for (const char* form : {"3 march 1987", "march 3, 1987", "the 3rd of march 1987", "3 mar 1987",
                           "tuesday, 3 march 1987", "1987/03/03", "3.iii.1987",
                           "the third of march nineteen eighty-seven"})
    EXPECT_TRUE(forms.contains(form)) << form;
  EXPECT_EQ(iso_date(date), "1987-03-03");
}

TEST(DateSpelling, EndsOrdinalsRightly) {
  const auto third_form = [](unsigned day) {
    return spell_date(2001y / 1 / std::chrono::day(day), 3);
  };
  EXPECT_EQ(third_form(1), "1st january 2001");
  EXPECT_EQ(third_form(11), "11th january 2001");
  EXPECT_EQ(third_form(12), "12th january 2001");
  EXPECT_EQ(third_form(13), "13th january 2001");
  EXPECT_EQ(third_form(22), "22nd january 2001");
  EXPECT_EQ(third_form(23), "23rd january 2001");
}

// No spelling means two dates, so the task is a function.
TEST(DateSpelling, MeansOneDate) {
  std::map<std::string, Date> meaning;
  for (auto day = std::chrono::sys_days(1999y / 1 / 1); day <= std::chrono::sys_days(2012y / 1 / 1);
       day += std::chrono::days(1))
    for (size_t k = 0; k < date_forms(); ++k) {
      const auto place = meaning.emplace(spell_date(Date(day), k), Date(day)).first;
      ASSERT_EQ(place->second, Date(day)) << place->first;
    }
}

TEST(DatePairs, IsAFunctionOfItsSeed) {
  const DatePairs task = make_date_pairs(1, 200), again = make_date_pairs(1, 200),
                  other = make_date_pairs(2, 200);
  EXPECT_EQ(task.train, again.train);
  EXPECT_EQ(task.valid, again.valid);
  EXPECT_EQ(task.test, again.test);
  EXPECT_NE(task.train, other.train);
  EXPECT_NE(task.test, other.test);
}

TEST(DatePairs, TestsOnDatesThatTrainingDoesNotHave) {
  const DatePairs task = make_date_pairs(1, 20000);
  EXPECT_EQ(task.train.size(), 20000u);
  const std::set<std::string> train = targets(task.train), valid = targets(task.valid),
                              test = targets(task.test);
  EXPECT_EQ(valid.size(), static_cast<size_t>(kDateValid));
  EXPECT_EQ(test.size(), static_cast<size_t>(kTinyTest));
  for (const std::string& date : test) {
    EXPECT_FALSE(train.contains(date)) << date;
    EXPECT_FALSE(valid.contains(date)) << date;
    EXPECT_EQ(date.size(), 10u);
  }
  for (const std::string& date : valid) EXPECT_FALSE(train.contains(date)) << date;
}

TEST(DatePairs, BecomesACorpusOfCharacters) {
  test::TemporaryFolder folder;
  make_date_corpus(folder / "tiny", 1, 1000);
  const Corpus corpus = Corpus::open(folder / "tiny", true);
  const DatePairs task = make_date_pairs(1, 1000);
  ASSERT_EQ(corpus.split("train").size(), 1000);
  ASSERT_EQ(corpus.split("valid").size(), kDateValid);
  ASSERT_EQ(corpus.split("test").size(), kTinyTest);
  for (int64_t k = 0; k < 1000; ++k) {
    EXPECT_EQ(corpus.tokenizer().decode(corpus.split("train").source(k)), task.train[k].source);
    EXPECT_EQ(corpus.tokenizer().decode(corpus.split("train").target(k)), task.train[k].target);
    EXPECT_EQ(corpus.split("train").target(k).size(), 11u);
  }
  EXPECT_EQ(corpus.split("test").source_lines()[3], task.test[3].source);
  for (const auto& [name, counts] : corpus.manifest().splits) {
    EXPECT_EQ(counts.source_unknown, 0) << name;
    EXPECT_EQ(counts.target_unknown, 0) << name;
  }
  // Ten digits, a hyphen and the end symbol are used.
  EXPECT_EQ(static_cast<int64_t>(corpus.unused_in_targets().size()),
            corpus.tokenizer().dictionary().size() - 12);
}

}  // namespace
}  // namespace tessera::corpus
