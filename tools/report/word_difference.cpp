#include "report/word_difference.h"

#include <algorithm>
#include <vector>

#include "drawing/svg.h"

namespace tessera::report {
namespace {

constexpr size_t kMostPairs = 4'000'000;  // of words that are compared

using Words = std::vector<std::string_view>;

Words words_of(std::string_view text) {
  Words words;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    if (!word.empty()) words.push_back(word);
  }
  return words;
}

Words letters_of(std::string_view text) {
  const auto goes_on = [&](size_t k) {
    return k < text.size() && (static_cast<unsigned char>(text[k]) & 0xc0) == 0x80;
  };
  Words letters;
  for (size_t begin = 0, end; begin < text.size(); begin = end) {
    end = begin + 1;
    while (goes_on(end)) ++end;
    letters.push_back(text.substr(begin, end - begin));
  }
  return letters;
}

// Which letters stand at the same place in both.
std::vector<bool> equal_places(const Words& a, const Words& b) {
  std::vector<bool> result;
  for (size_t k = 0; k < a.size(); ++k) result.push_back(a[k] == b[k]);
  return result;
}

// Which words of `a` belong to the longest sequence that both have.
std::vector<bool> shared(const Words& a, const Words& b) {
  std::vector<bool> result(a.size(), false);
  const size_t columns = b.size() + 1;
  std::vector<size_t> longest((a.size() + 1) * columns, 0);  // of a[i..] and b[j..]
  for (size_t i = a.size(); i-- > 0;)
    for (size_t j = b.size(); j-- > 0;)
      longest[i * columns + j] =
          a[i] == b[j] ? longest[(i + 1) * columns + j + 1] + 1
                       : std::max(longest[(i + 1) * columns + j], longest[i * columns + j + 1]);
  for (size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    if (a[i] == b[j]) {
      result[i] = true;
      ++i, ++j;
    } else if (longest[(i + 1) * columns + j] >= longest[i * columns + j + 1]) {
      ++i;
    } else {
      ++j;
    }
  }
  return result;
}

}  // namespace

std::string with_marks(std::string_view text, std::string_view other) {
  const bool spaced =
      text.find(' ') != std::string_view::npos || other.find(' ') != std::string_view::npos;
  const Words ours = spaced ? words_of(text) : letters_of(text);
  const Words theirs = spaced ? words_of(other) : letters_of(other);
  if (ours.size() * theirs.size() > kMostPairs) return drawing::escaped(text);
  const bool placed = !spaced && ours.size() == theirs.size();  // dates, numbers
  const std::vector<bool> same = placed ? equal_places(ours, theirs) : shared(ours, theirs);
  std::string html;
  for (size_t k = 0; k < ours.size();) {
    size_t end = k + 1;
    while (end < ours.size() && same[end] == same[k]) ++end;
    std::string part;
    for (size_t i = k; i < end; ++i) {
      if (spaced && i > k) part += ' ';
      part += ours[i];
    }
    if (spaced && k > 0) html += ' ';
    html += same[k] ? drawing::escaped(part) : "<mark>" + drawing::escaped(part) + "</mark>";
    k = end;
  }
  return html;
}

}  // namespace tessera::report
