#pragma once

#include <tessera/tensor/random.h>

#include <chrono>
#include <cstddef>
#include <string>

namespace tessera::corpus {

using Date = std::chrono::year_month_day;

// The number of ways to write a date here. Each is unambiguous ("3/4/87" is not among them):
// "3 march 1987", "the third of march nineteen eighty-seven", "tue 3 mar 1987", ...
size_t date_forms();

// A date of 1900-2099 in one of the ways, in lower case.
std::string spell_date(const Date& date, size_t form);

// In a random way and in lower, upper or Title Case.
std::string spell_date(const Date& date, RandomStream& random);

std::string iso_date(const Date& date);  // "1987-03-03"

// Numbers below 100 in words: "seven", "eighty-seven"; "seventh", "eighty-seventh".
std::string number_words(int number);
std::string ordinal_words(int number);
// "nineteen eighty-seven", "nineteen oh seven", "twenty hundred", "two thousand and seven".
std::string year_words(int year);

}  // namespace tessera::corpus
