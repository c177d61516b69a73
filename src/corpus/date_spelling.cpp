#include "corpus/date_spelling.h"

#include "base/require.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

namespace tessera::corpus {
namespace {

constexpr std::array<std::string_view, 12> kMonths{"january",   "february", "march",    "april",
                                                   "may",       "june",     "july",     "august",
                                                   "september", "october",  "november", "december"};
constexpr std::array<std::string_view, 12> kRomanMonths{"i",   "ii",   "iii", "iv", "v",  "vi",
                                                        "vii", "viii", "ix",  "x",  "xi", "xii"};
constexpr std::array<std::string_view, 7> kWeekdays{"sunday",   "monday", "tuesday", "wednesday",
                                                    "thursday", "friday", "saturday"};
constexpr std::array<std::string_view, 20> kNumbers{
    "zero",     "one",     "two",     "three",     "four",     "five",    "six",
    "seven",    "eight",   "nine",    "ten",       "eleven",   "twelve",  "thirteen",
    "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"};
constexpr std::array<std::string_view, 10> kTens{"",      "",      "twenty",  "thirty", "forty",
                                                 "fifty", "sixty", "seventy", "eighty", "ninety"};

std::string_view ordinal_ending(int number) {
  if (number / 10 % 10 == 1) return "th";
  switch (number % 10) {
    case 1:
      return "st";
    case 2:
      return "nd";
    case 3:
      return "rd";
    default:
      return "th";
  }
}

// The parts that a form is built from.
struct Parts {
  int day_number, month_number, year_number;
  std::string day, day_th, day_words;     // "3", "3rd", "third"
  std::string month, month_short, roman;  // "march", "mar", "iii"
  std::string year, year_words;           // "1987", "nineteen eighty-seven"
  std::string weekday, weekday_short;     // "tuesday", "tue"

  explicit Parts(const Date& date)
      : day_number(static_cast<int>(static_cast<unsigned>(date.day()))),
        month_number(static_cast<int>(static_cast<unsigned>(date.month()))),
        year_number(static_cast<int>(date.year())),
        day(std::to_string(day_number)),
        day_th(day + std::string(ordinal_ending(day_number))),
        day_words(ordinal_words(day_number)),
        month(kMonths[month_number - 1]),
        month_short(month.substr(0, 3)),
        roman(kRomanMonths[month_number - 1]),
        year(std::to_string(year_number)),
        year_words(corpus::year_words(year_number)),
        weekday(kWeekdays[std::chrono::weekday(std::chrono::sys_days(date)).c_encoding()]),
        weekday_short(weekday.substr(0, 3)) {}
};

using Form = std::string (*)(const Parts&);

constexpr std::array<Form, 20> kForms{
    [](const Parts& p) { return p.day + " " + p.month + " " + p.year; },
    [](const Parts& p) { return p.month + " " + p.day + ", " + p.year; },
    [](const Parts& p) { return "the " + p.day_th + " of " + p.month + " " + p.year; },
    [](const Parts& p) { return p.day_th + " " + p.month + " " + p.year; },
    [](const Parts& p) { return p.month + " the " + p.day_th + ", " + p.year; },
    [](const Parts& p) { return p.day + " " + p.month_short + " " + p.year; },
    [](const Parts& p) { return p.month_short + " " + p.day + " " + p.year; },
    [](const Parts& p) { return p.day + "-" + p.month_short + "-" + p.year; },
    [](const Parts& p) { return p.weekday + ", " + p.day + " " + p.month + " " + p.year; },
    [](const Parts& p) { return p.weekday + ", " + p.month + " " + p.day_th + ", " + p.year; },
    [](const Parts& p) {
      return p.weekday_short + " " + p.day + " " + p.month_short + " " + p.year;
    },
    [](const Parts& p) {
      return fmt::format("{}/{:02}/{:02}", p.year, p.month_number, p.day_number);
    },
    [](const Parts& p) { return p.year + ", " + p.month + " " + p.day; },
    [](const Parts& p) { return p.day + "." + p.roman + "." + p.year; },
    [](const Parts& p) { return "the " + p.day_words + " of " + p.month + " " + p.year; },
    [](const Parts& p) { return p.month + " the " + p.day_words + ", " + p.year; },
    [](const Parts& p) { return p.month + " " + p.day + ", " + p.year_words; },
    [](const Parts& p) { return "the " + p.day_words + " of " + p.month + " " + p.year_words; },
    [](const Parts& p) { return p.month + " the " + p.day_words + " " + p.year_words; },
    [](const Parts& p) { return "in " + p.year + " on the " + p.day_th + " of " + p.month; },
};

void to_upper(char& letter) {
  letter = static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
}

bool is_letter(char character) {
  return std::isalpha(static_cast<unsigned char>(character)) != 0;
}

// "the 3rd of March"; "3RD" only if everything is in upper case.
std::string title_case(std::string text) {
  for (size_t k = 0; k < text.size(); ++k) {
    const bool begins = k == 0 || text[k - 1] == ' ' || text[k - 1] == '-' || text[k - 1] == '.';
    const bool small_word =
        text.substr(k, 3) == "of " || text.substr(k, 4) == "the " || text.substr(k, 3) == "on ";
    if (is_letter(text[k]) && begins && !(small_word && k > 0)) to_upper(text[k]);
  }
  return text;
}

std::string upper_case(std::string text) {
  std::for_each(text.begin(), text.end(), to_upper);
  return text;
}

}  // namespace

std::string number_words(int number) {
  require(number >= 0 && number < 100, "no words for the number {}", number);
  if (number < 20) return std::string(kNumbers[number]);
  const std::string tens(kTens[number / 10]);
  return number % 10 == 0 ? tens : tens + "-" + std::string(kNumbers[number % 10]);
}

std::string ordinal_words(int number) {
  std::string words = number_words(number);
  const auto replace_end = [&](std::string_view from, std::string_view to) {
    if (!words.ends_with(from)) return false;
    words.replace(words.size() - from.size(), from.size(), to);
    return true;
  };
  for (const auto& [from, to] :
       std::initializer_list<std::pair<const char*, const char*>>{{"one", "first"},
                                                                  {"two", "second"},
                                                                  {"three", "third"},
                                                                  {"five", "fifth"},
                                                                  {"eight", "eighth"},
                                                                  {"nine", "ninth"},
                                                                  {"twelve", "twelfth"},
                                                                  {"ty", "tieth"}})
    if (replace_end(from, to)) return words;
  return words + "th";
}

std::string year_words(int year) {
  const int century = year / 100, rest = year % 100;
  if (century == 20 && rest < 10)
    return rest == 0 ? "two thousand" : "two thousand and " + number_words(rest);
  if (rest == 0) return number_words(century) + " hundred";
  return number_words(century) + (rest < 10 ? " oh " : " ") + number_words(rest);
}

size_t date_forms() {
  return kForms.size();
}

std::string spell_date(const Date& date, size_t form) {
  require(form < kForms.size(), "a date has {} forms, there is no number {}", kForms.size(), form);
  return kForms[form](Parts(date));
}

std::string spell_date(const Date& date, RandomStream& random) {
  const std::string text = spell_date(date, random.below(kForms.size()));
  switch (random.below(4)) {
    case 0:
      return title_case(text);
    case 1:
      return upper_case(text);
    default:
      return text;
  }
}

std::string iso_date(const Date& date) {
  return fmt::format("{:04}-{:02}-{:02}", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()));
}

}  // namespace tessera::corpus
