#include "text/pair_statistics.h"

#include <algorithm>

namespace tessera::text {

bool PairStatistics::Less::operator()(const Entry& a, const Entry& b) const {
  return statistics->less(a.pair, a.count, b.pair, b.count);
}

// By count, then by the strings of the two symbols. UTF-8 sorts as code points do.
bool PairStatistics::less(int32_t a, int64_t count_a, int32_t b, int64_t count_b) const {
  if (count_a != count_b) return count_a < count_b;
  const Pair &left = (*this)[a], &right = (*this)[b];
  if (left.first != right.first) return names_[left.first] < names_[right.first];
  return left.second != right.second && names_[left.second] < names_[right.second];
}

int32_t PairStatistics::find_or_add(int32_t first, int32_t second) {
  const uint64_t key = static_cast<uint64_t>(first) << 32 | static_cast<uint32_t>(second);
  const auto [found, is_new] = index_.try_emplace(key, static_cast<int32_t>(pairs_.size()));
  if (is_new) pairs_.push_back({.first = first, .second = second});
  return found->second;
}

void PairStatistics::enter(int32_t pair) {
  if (pairs_[pair].counted) return;
  pairs_[pair].counted = true;
  pairs_[pair].count = 0;
  counted_.push_back(pair);
}

void PairStatistics::add(int32_t first, int32_t second, uint32_t word, int32_t times,
                         int64_t frequency) {
  const int32_t number = find_or_add(first, second);
  const bool is_new = !pairs_[number].counted;
  enter(number);
  Pair& pair = pairs_[number];
  pair.count += times * frequency;
  if (started_ && (is_new || times > 0)) heap_.push({pair.count, number});
  if (!pair.log.empty() && pair.log.back().word == word)
    pair.log.back().count += times;
  else
    pair.log.push_back({word, times});
}

void PairStatistics::start() {
  int64_t largest = 0;
  for (const int32_t number : counted_) {
    Pair& pair = pairs_[number];
    pair.full = pair.count;
    pair.kept = true;
    largest = std::max(largest, pair.count);
  }
  threshold_ = static_cast<double>(largest) / 10;
  started_ = true;
  rebuild_heap();
}

void PairStatistics::rebuild_heap() {
  std::vector<Entry> entries;
  entries.reserve(counted_.size());
  for (const int32_t number : counted_) entries.push_back({pairs_[number].count, number});
  heap_ = Heap(Less{this}, std::move(entries));
}

int32_t PairStatistics::top() {
  while (!heap_.empty()) {
    const Entry entry = heap_.top();
    const Pair& pair = pairs_[entry.pair];
    if (pair.counted && pair.count == entry.count) return entry.pair;
    heap_.pop();
    if (pair.counted && pair.count < entry.count) heap_.push({pair.count, entry.pair});
  }
  return -1;
}

int32_t PairStatistics::best(int64_t step) {
  const int32_t found = top();
  if (found >= 0 && (step == 0 || static_cast<double>(pairs_[found].count) >= threshold_))
    return found;
  restore(step);
  return top();
}

void PairStatistics::restore(int64_t step) {
  prune();
  counted_.clear();
  int64_t largest = 0;
  for (size_t k = 0; k < pairs_.size(); ++k) {
    Pair& pair = pairs_[k];
    pair.counted = pair.kept;
    if (!pair.kept) continue;
    pair.count = pair.full;
    largest = counted_.empty() ? pair.count : std::max(largest, pair.count);
    counted_.push_back(static_cast<int32_t>(k));
  }
  threshold_ = static_cast<double>(largest * step) / (static_cast<double>(step) + 10000.0);
  prune();
  rebuild_heap();
}

void PairStatistics::prune() {
  const auto is_below = [&](int32_t number) {
    Pair& pair = pairs_[number];
    if (static_cast<double>(pair.count) >= threshold_) return false;
    pair.counted = false;
    // A negative count is the change since the pair was put aside.
    pair.full = pair.count < 0 ? (pair.kept ? pair.full : 0) + pair.count : pair.count;
    pair.kept = true;
    return true;
  };
  std::erase_if(counted_, is_below);
}

std::vector<uint32_t> PairStatistics::take_words(int32_t number) {
  Pair& pair = pairs_[number];
  std::stable_sort(pair.log.begin(), pair.log.end(),
                   [](const Occurrence& a, const Occurrence& b) { return a.word < b.word; });
  std::vector<uint32_t> words;
  for (size_t k = 0; k < pair.log.size();) {
    const uint32_t word = pair.log[k].word;
    int64_t count = 0;
    for (; k < pair.log.size() && pair.log[k].word == word; ++k) count += pair.log[k].count;
    if (count >= 1) words.push_back(word);
  }
  pair.log = {};
  enter(number);
  pairs_[number].count = 0;
  return words;
}

void PairStatistics::finish_merge(int32_t pair, int64_t step) {
  enter(pair);
  pairs_[pair].count = 0;
  heap_.push({0, pair});
  if (step % 100 == 0) prune();
}

}  // namespace tessera::text
