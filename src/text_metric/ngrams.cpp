#include "text_metric/ngrams.h"

#include <algorithm>

namespace tessera::text_metric {

NgramNumbering::NgramNumbering(std::span<const std::span<const int32_t>> texts) {
  for (const auto& text : texts) {
    begin_.push_back(symbols_.size());
    length_.push_back(text.size());
    symbols_.insert(symbols_.end(), text.begin(), text.end());
  }
  numbers_.resize(symbols_.size());
  for (uint32_t i = 0; i < symbols_.size(); ++i)
    occurrences_.push_back({static_cast<uint32_t>(symbols_[i]), i});
  number();
}

void NgramNumbering::extend() {
  occurrences_.clear();
  for (size_t text = 0; text < texts(); ++text) {
    if (length_[text] > 0) --length_[text];
    for (size_t i = begin_[text]; i < begin_[text] + length_[text]; ++i)
      occurrences_.push_back({uint64_t{numbers_[i]} << 32 | static_cast<uint32_t>(symbols_[i + n_]),
                              static_cast<uint32_t>(i)});
  }
  ++n_;
  number();
}

std::span<const uint32_t> NgramNumbering::of(size_t text) const {
  return {numbers_.data() + begin_[text], length_[text]};
}

void NgramNumbering::number() {
  std::sort(occurrences_.begin(), occurrences_.end(),
            [](const Occurrence& a, const Occurrence& b) { return a.key < b.key; });
  count_ = 0;
  for (size_t i = 0; i < occurrences_.size(); ++i) {
    if (i > 0 && occurrences_[i].key != occurrences_[i - 1].key) ++count_;
    numbers_[occurrences_[i].position] = count_;
  }
  if (!occurrences_.empty()) ++count_;
}

}  // namespace tessera::text_metric
