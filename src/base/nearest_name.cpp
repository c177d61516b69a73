#include "base/nearest_name.h"

#include <algorithm>
#include <cstddef>

namespace tessera {
namespace {

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

// Optimal string alignment: three rows are enough, because a swap looks back two.
size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> two_up(b.size() + 1), up(b.size() + 1), row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    std::swap(two_up, up);
    std::swap(up, row);
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const char x = lower(a[i - 1]), y = lower(b[j - 1]);
      row[j] = std::min({up[j] + 1, row[j - 1] + 1, up[j - 1] + (x == y ? 0 : 1)});
      if (i > 1 && j > 1 && x == lower(b[j - 2]) && lower(a[i - 2]) == y)
        row[j] = std::min(row[j], two_up[j - 2] + 1);
    }
  }
  return row[b.size()];
}

}  // namespace

std::string nearest_name(std::string_view name, const std::vector<std::string_view>& known) {
  std::string_view best;
  size_t fewest = std::string_view::npos;
  for (const std::string_view candidate : known) {
    const size_t longest = std::max(name.size(), candidate.size());
    const size_t allowed = std::max<size_t>(1, longest / 3);
    if (longest - std::min(name.size(), candidate.size()) > allowed) continue;
    const size_t edits = edit_distance(name, candidate);
    if (edits <= allowed && edits < longest && edits < fewest) {
      best = candidate;
      fewest = edits;
    }
  }
  return std::string(best);
}

std::string did_you_mean(std::string_view name, const std::vector<std::string_view>& known) {
  const std::string nearest = nearest_name(name, known);
  return nearest.empty() ? std::string() : " (did you mean '" + nearest + "'?)";
}

}  // namespace tessera
