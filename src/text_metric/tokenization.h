#pragma once

#include <tessera/base/enum_names.h>

#include <string>
#include <string_view>
#include <vector>

namespace tessera::text_metric {

// How a line becomes the words that are compared.
enum class Tokenization {
  none,        // the words between blanks
  mteval_13a,  // as NIST's mteval-v13a: punctuation apart, entities like &quot; put back
  moses_13a,   // the same for text that Moses' scripts have tokenised, which is joined first
};

}  // namespace tessera::text_metric

template <>
struct tessera::EnumNames<tessera::text_metric::Tokenization> {
  using Tokenization = tessera::text_metric::Tokenization;
  static constexpr std::string_view what = "tokenization";
  static constexpr std::array<std::pair<Tokenization, std::string_view>, 3> values{
      {{Tokenization::none, "none"},
       {Tokenization::mteval_13a, "13a"},
       {Tokenization::moses_13a, "moses-13a"}}};
};

namespace tessera::text_metric {

// The default for a score: tokenised text has its words between blanks already.
constexpr Tokenization usual_tokenization(bool raw_text) {
  return raw_text ? Tokenization::mteval_13a : Tokenization::none;
}

// All of these take UTF-8. Bytes that are not UTF-8 count as characters of their own.

// The words between blanks; a blank is any white space of Unicode. The words point into `line`.
std::vector<std::string_view> split_words(std::string_view line);

// Lower case, in every script.
std::string lowercase(std::string_view line);

// The line with blanks where mteval-v13a separates words; there may be several in a row.
std::string separate_13a(std::string_view line);

// The code points of a line, without white space.
std::vector<char32_t> visible_characters(std::string_view line);

}  // namespace tessera::text_metric
