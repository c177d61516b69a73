#include "corpus/batcher.h"

#include "base/require.h"

#include <tessera/tensor/random.h>

#include <algorithm>
#include <limits>
#include <map>
#include <unordered_map>
#include <utility>

namespace tessera::corpus {
namespace {

void check(const BatcherOptions& options) {
  require_option(options.tokens >= 1, "data.tokens must be at least 1, got {}", options.tokens);
  require_option(options.max_length >= 1, "data.max_length must be at least 1, got {}",
                 options.max_length);
  require_option(options.round_to >= 1, "data.round_to must be at least 1, got {}",
                 options.round_to);
  require_option(options.max_buckets >= 1, "data.max_buckets must be at least 1, got {}",
                 options.max_buckets);
}

constexpr uint32_t kNoCell = std::numeric_limits<uint32_t>::max();

// The distinct padded lengths of a split (a few hundred), and which of them every sentence has.
struct Cells {
  std::vector<PairLength> lengths;
  std::vector<int64_t> counts;
  std::vector<uint32_t> of;  // of every sentence; kNoCell: it is too long
  int64_t left_out = 0;
};

Cells find_cells(const Split& split, const BatcherOptions& options) {
  Cells cells;
  cells.of.assign(static_cast<size_t>(split.size()), kNoCell);
  std::unordered_map<uint64_t, uint32_t> numbers;
  for (int64_t k = 0; k < split.size(); ++k) {
    const int64_t source = split.source_length(k), target = split.target_length(k);
    if (source > options.max_length || target > options.max_length) {
      ++cells.left_out;
      continue;
    }
    PairLength padded{bucket_length(source, options.round_to),
                      bucket_length(target, options.round_to)};
    if (options.square) padded.source = padded.target = std::max(padded.source, padded.target);
    const uint64_t key =
        static_cast<uint64_t>(padded.source) << 32 | static_cast<uint64_t>(padded.target);
    const auto [number, is_new] = numbers.try_emplace(key, static_cast<uint32_t>(numbers.size()));
    if (is_new) {
      cells.lengths.push_back(padded);
      cells.counts.push_back(0);
    }
    ++cells.counts[number->second];
    cells.of[k] = number->second;
  }
  return cells;
}

// `stream` tells the streams of one epoch apart: one for every bucket, one for all batches.
template <class T>
void shuffle_with(std::vector<T>& items, const StreamId& id, uint64_t stream) {
  RandomStream random(id, stream);
  for (size_t k = items.size(); k > 1; --k) std::swap(items[k - 1], items[random.below(k)]);
}

// Writes a sentence into its row, which is filled with padding.
void copy_row(std::span<const text::Id> sentence, std::vector<int64_t>& rows, int64_t row,
              int64_t width) {
  std::copy(sentence.begin(), sentence.end(), rows.begin() + row * width);
}

}  // namespace

Batcher::Batcher(const Split& split, const BatcherOptions& options, uint64_t seed)
    : split_(split), options_(options), seed_(seed) {
  check(options);
  const Cells cells = find_cells(split_, options_);
  left_out_ = cells.left_out;
  require(split_.size() > 0, "there are no sentences to make batches of");
  require_option(!cells.lengths.empty(),
                 "all {} pairs of sentences are longer than data.max_length = {}", left_out_,
                 options_.max_length);

  const BucketOptions bucket_options{.tokens = options_.tokens,
                                     .max_buckets = options_.max_buckets};
  std::map<PairLength, int64_t> counts;
  for (size_t k = 0; k < cells.lengths.size(); ++k) counts[cells.lengths[k]] = cells.counts[k];
  const std::vector<PairLength> buckets = choose_buckets(counts, bucket_options);
  for (const PairLength& bucket : buckets) {
    const int64_t width = std::max(bucket.source, bucket.target);
    require_option(width <= options_.tokens,
                   "data.tokens = {} is less than one sentence of {} tokens, padding included: "
                   "raise it or lower data.max_length",
                   options_.tokens, width);
    shapes_.push_back({bucket_rows(bucket, options_.tokens), bucket.source, bucket.target});
  }
  for (size_t k = 0; k < buckets.size(); ++k) {
    const int64_t cover = cheapest_cover(buckets, buckets[k], static_cast<int64_t>(k));
    next_.push_back(cover < 0 ? k : static_cast<size_t>(cover));
  }
  std::vector<size_t> bucket_of;  // of a cell
  for (const PairLength& length : cells.lengths)
    bucket_of.push_back(static_cast<size_t>(cheapest_cover(buckets, length)));
  sentences_.resize(buckets.size());
  for (int64_t k = 0; k < split_.size(); ++k)
    if (cells.of[k] != kNoCell) sentences_[bucket_of[cells.of[k]]].push_back(k);
}

int64_t Batcher::batches(int64_t epoch) const {
  return static_cast<int64_t>(plan(epoch).batches.size());
}

Batch Batcher::batch(int64_t epoch, int64_t index) const {
  const Plan& order = plan(epoch);
  require(index >= 0 && index < static_cast<int64_t>(order.batches.size()),
          "epoch {} has {} batches, there is no number {}", epoch, order.batches.size(), index);
  const auto [bucket, begin, used] = order.batches[index];
  const auto first = order.sentences.begin() + begin;

  Batch made{shapes_[bucket], used, {first, first + used}, {}, {}};
  const auto& [rows, source, target] = made.shape;
  made.source.assign(rows * source, text::Dictionary::kPad);
  made.target.assign(rows * target, text::Dictionary::kPad);
  for (int64_t row = 0; row < used; ++row) {
    copy_row(split_.source(made.sentences[row]), made.source, row, source);
    copy_row(split_.target(made.sentences[row]), made.target, row, target);
  }
  for (int64_t row = used; row < rows; ++row) made.source[row * source] = text::Dictionary::kEos;
  return made;
}

const Batcher::Plan& Batcher::plan(int64_t epoch) const {
  require(epoch >= 0 && epoch <= std::numeric_limits<uint32_t>::max(), "there is no epoch {}",
          epoch);
  if (plan_.epoch != epoch && (options_.shuffle || plan_.epoch < 0)) plan_ = make_plan(epoch);
  return plan_;
}

Batcher::Plan Batcher::make_plan(int64_t epoch) const {
  const StreamId id{seed_, Purpose::data_order, static_cast<uint64_t>(epoch)};
  Plan made;
  made.epoch = epoch;
  std::vector<std::vector<int64_t>> leftovers(shapes_.size());
  for (size_t k = 0; k < shapes_.size(); ++k) {
    std::vector<int64_t> own = sentences_[k];
    if (options_.shuffle) shuffle_with(own, id, k);
    // Sentences that moved here come first, so that those left over at the end have not moved
    // before.
    std::vector<int64_t> waiting = std::move(leftovers[k]);
    waiting.insert(waiting.end(), own.begin(), own.end());

    const bool last = k + 1 == shapes_.size();
    const int64_t count = static_cast<int64_t>(waiting.size()), rows = shapes_[k].rows;
    const int64_t placed = last ? count : count / rows * rows;
    for (int64_t begin = 0; begin < placed; begin += rows)
      made.batches.push_back(
          {k, static_cast<int64_t>(made.sentences.size()) + begin, std::min(rows, placed - begin)});
    made.sentences.insert(made.sentences.end(), waiting.begin(), waiting.begin() + placed);
    if (!last) {
      auto& moved = leftovers[next_[k]];
      moved.insert(moved.end(), waiting.begin() + placed, waiting.end());
    }
  }
  if (options_.shuffle) shuffle_with(made.batches, id, shapes_.size());
  return made;
}

}  // namespace tessera::corpus
