#include "corpus/column_order.h"

#include <cmath>
#include <numeric>

namespace tessera::corpus {
namespace {

double total(const std::vector<int64_t>& counts) {
  return static_cast<double>(std::accumulate(counts.begin(), counts.end(), int64_t{0}));
}

// By how much the symbols of a text are likelier in `a` than in `b`, in nats.
double likelier(const std::vector<int64_t>& text, const std::vector<int64_t>& a,
                const std::vector<int64_t>& b) {
  const double in_all = std::log(total(a) + static_cast<double>(a.size())) -
                        std::log(total(b) + static_cast<double>(b.size()));
  double sum = 0;
  for (size_t id = text::Dictionary::kSpecials; id < text.size(); ++id) {
    if (text[id] == 0) continue;
    const double one =
        std::log(static_cast<double>(a[id]) + 1) - std::log(static_cast<double>(b[id]) + 1);
    sum += static_cast<double>(text[id]) * (one - in_all);
  }
  return sum;
}

}  // namespace

SideCounts::SideCounts(int64_t symbols)
    : source(static_cast<size_t>(symbols)), target(static_cast<size_t>(symbols)) {}

void SideCounts::add(std::span<const text::Id> source_ids, std::span<const text::Id> target_ids) {
  for (const text::Id id : source_ids) ++source.at(static_cast<size_t>(id));
  for (const text::Id id : target_ids) ++target.at(static_cast<size_t>(id));
}

bool seem_swapped(const SideCounts& split, const SideCounts& train) {
  const double symbols = total(split.source) + total(split.target);
  if (symbols == 0) return false;
  const double gain = likelier(split.source, train.target, train.source) +
                      likelier(split.target, train.source, train.target);
  // Nats per symbol. Symbols of two languages differ by more than 1, letters by about 0.1.
  return gain / symbols > 0.05 + 5 / std::sqrt(symbols);
}

}  // namespace tessera::corpus
