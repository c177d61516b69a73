#include "corpus/batcher.h"

#include "text/made_split.h"

#include <tessera/base/error.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>

namespace tessera::corpus {
namespace {

using test::made_split;
using test::natural_lengths;
using testing::HasSubstr;

std::vector<Batch> all_batches(const Batcher& batcher, int64_t epoch) {
  std::vector<Batch> batches;
  for (int64_t k = 0; k < batcher.batches(epoch); ++k) batches.push_back(batcher.batch(epoch, k));
  return batches;
}

std::vector<int64_t> all_sentences(const std::vector<Batch>& batches) {
  std::vector<int64_t> sentences;
  for (const Batch& batch : batches)
    sentences.insert(sentences.end(), batch.sentences.begin(), batch.sentences.end());
  return sentences;
}

std::vector<int64_t> numbers_up_to(int64_t count) {
  std::vector<int64_t> numbers(count);
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

template <class Call>
std::string usage_error(Call&& call) {
  try {
    call();
  } catch (const UsageError& error) {
    return error.what();
  }
  return "no UsageError";
}

TEST(PaddedLength, RoundsLongSentencesMoreCoarsely) {
  EXPECT_EQ(bucket_length(1, 4), 4);
  EXPECT_EQ(bucket_length(4, 4), 4);
  EXPECT_EQ(bucket_length(5, 4), 8);
  EXPECT_EQ(bucket_length(64, 4), 64);
  EXPECT_EQ(bucket_length(65, 4), 80);
  EXPECT_EQ(bucket_length(129, 4), 160);
  EXPECT_EQ(bucket_length(257, 4), 320);
  EXPECT_EQ(bucket_length(10000, 4), 10048);
  EXPECT_EQ(bucket_length(3, 1), 3);
}

TEST(BucketRows, AreMultiplesOfEightWhereThereAreThatMany) {
  EXPECT_EQ(bucket_rows({12, 20}, 8000), 400);
  EXPECT_EQ(bucket_rows({12, 28}, 8000), 280);
  EXPECT_EQ(bucket_rows({32, 24}, 250), 7);
  EXPECT_EQ(bucket_rows({100, 256}, 256), 1);
}

TEST(ChooseBuckets, KeepsAFewThatCoverEverything) {
  const std::map<PairLength, int64_t> counts{
      {{4, 4}, 10000}, {{4, 8}, 10000}, {{8, 4}, 3}, {{40, 8}, 10000}, {{8, 40}, 10000}};
  const auto buckets = choose_buckets(counts, {.tokens = 800, .max_buckets = 5});
  // {8, 4} is too rare for a bucket of its own; {40, 40} has to be there although no pair has it.
  EXPECT_THAT(buckets, testing::ElementsAre(PairLength{4, 4}, PairLength{4, 8}, PairLength{8, 40},
                                            PairLength{40, 8}, PairLength{40, 40}));
  for (int64_t most = 1; most < 5; ++most) {
    const auto fewer = choose_buckets(counts, {.tokens = 800, .max_buckets = most});
    EXPECT_LE(static_cast<int64_t>(fewer.size()), most);
    EXPECT_EQ(fewer.back(), (PairLength{40, 40}));
  }
}

TEST(Batcher, HasEverySentenceOncePerEpoch) {
  const Batcher batcher(made_split(natural_lengths(3000, 14, 0.4)), {.tokens = 1000}, 1);
  for (int64_t epoch : {0, 1, 7}) {
    std::vector<int64_t> sentences = all_sentences(all_batches(batcher, epoch));
    std::sort(sentences.begin(), sentences.end());
    EXPECT_EQ(sentences, numbers_up_to(3000));
  }
}

TEST(Batcher, GivesBatchesTheShapesItNames) {
  const Batcher batcher(made_split(natural_lengths(3000, 14, 0.4)), {.tokens = 1000}, 1);
  const std::set<BatchShape> shapes(batcher.shapes().begin(), batcher.shapes().end());
  EXPECT_EQ(shapes.size(), batcher.shapes().size());
  std::set<std::pair<int64_t, int64_t>> widths;
  for (const BatchShape& shape : shapes) {
    EXPECT_TRUE(widths.insert({shape.source, shape.target}).second) << "two sizes of one bucket";
    EXPECT_LE(shape.rows * std::max(shape.source, shape.target), 1000);
    EXPECT_EQ(shape.source % 4, 0);
    EXPECT_EQ(shape.target % 4, 0);
  }
  for (const Batch& batch : all_batches(batcher, 0)) {
    EXPECT_TRUE(shapes.contains(batch.shape));
    EXPECT_EQ(static_cast<int64_t>(batch.source.size()), batch.shape.rows * batch.shape.source);
    EXPECT_EQ(static_cast<int64_t>(batch.target.size()), batch.shape.rows * batch.shape.target);
    EXPECT_EQ(static_cast<int64_t>(batch.sentences.size()), batch.used);
  }
}

TEST(Batcher, PadsSentencesAndMasksEmptyRows) {
  const Batcher batcher(made_split({{2, 3}, {5, 1}, {1, 4}}), {.tokens = 32, .round_to = 2}, 1);
  ASSERT_EQ(batcher.batches(0), 1);
  const Batch batch = batcher.batch(0, 0);
  ASSERT_EQ(batch.shape, (BatchShape{5, 6, 4}));
  ASSERT_EQ(batch.used, 3);
  constexpr int64_t P = text::Dictionary::kPad, E = text::Dictionary::kEos;
  const std::vector<std::vector<int64_t>> source{
      {4, E, P, P, P, P}, {5, 5, 5, 5, E, P}, {E, P, P, P, P, P}};
  const std::vector<std::vector<int64_t>> target{{4, 4, E, P}, {E, P, P, P}, {6, 6, 6, E}};
  const auto row = [](const std::vector<int64_t>& all, int64_t index, int64_t width) {
    return std::vector(all.begin() + index * width, all.begin() + (index + 1) * width);
  };
  for (int64_t k = 0; k < 3; ++k) {
    EXPECT_EQ(row(batch.source, k, 6), source[batch.sentences[k]]);
    EXPECT_EQ(row(batch.target, k, 4), target[batch.sentences[k]]);
  }
  for (int64_t k = 3; k < 5; ++k) {
    EXPECT_EQ(row(batch.source, k, 6), (std::vector<int64_t>{E, P, P, P, P, P}));
    EXPECT_EQ(row(batch.target, k, 4), (std::vector<int64_t>{P, P, P, P}));
  }
}

TEST(Batcher, SquareBatchesHoldEveryLengthRatio) {
  const Split split = made_split(natural_lengths(3000, 14, 0.4));
  const Batcher batcher(split, {.tokens = 2000, .square = true}, 1);
  int64_t mixed = 0;
  for (const Batch& batch : all_batches(batcher, 0)) {
    EXPECT_EQ(batch.shape.source, batch.shape.target);
    bool longer = false, shorter = false;
    for (const int64_t k : batch.sentences) {
      longer = longer || split.source_length(k) > split.target_length(k);
      shorter = shorter || split.source_length(k) < split.target_length(k);
    }
    mixed += longer && shorter;
  }
  EXPECT_GT(mixed, batcher.batches(0) / 2);
}

TEST(Batcher, LeavesAtMostOneBatchOfAnEpochPartlyEmpty) {
  const Batcher batcher(made_split(natural_lengths(2999, 14, 0.4)), {.tokens = 1000}, 1);
  for (int64_t epoch = 0; epoch < 5; ++epoch) {
    const auto batches = all_batches(batcher, epoch);
    EXPECT_LE(std::count_if(batches.begin(), batches.end(),
                            [](const Batch& batch) { return batch.used < batch.shape.rows; }),
              1);
  }
}

TEST(Batcher, OrdersByTheSeedAndTheEpochAlone) {
  const Split split = made_split(natural_lengths(2000, 14, 0.4));
  const BatcherOptions options{.tokens = 1000};
  const Batcher one(split, options, 1), again(split, options, 1), other(split, options, 2);
  again.batch(5, 3);  // earlier requests do not matter
  const auto first = all_sentences(all_batches(one, 0));
  EXPECT_EQ(all_sentences(all_batches(again, 0)), first);
  EXPECT_NE(all_sentences(all_batches(one, 1)), first);
  EXPECT_NE(all_sentences(all_batches(other, 0)), first);
  EXPECT_EQ(all_sentences(all_batches(one, 0)), first);
}

TEST(Batcher, CanGoOnFromAnyBatch) {
  const Split split = made_split(natural_lengths(500, 14, 0.4));
  const auto batches = all_batches(Batcher(split, {.tokens = 400}, 9), 3);
  for (size_t k = 0; k < batches.size(); ++k) {
    const Batch resumed = Batcher(split, {.tokens = 400}, 9).batch(3, static_cast<int64_t>(k));
    EXPECT_EQ(resumed.sentences, batches[k].sentences);
    EXPECT_EQ(resumed.source, batches[k].source);
    EXPECT_EQ(resumed.target, batches[k].target);
  }
}

TEST(Batcher, MixesLengthsAcrossAnEpoch) {
  const Batcher batcher(made_split(natural_lengths(5000, 14, 0.4)), {.tokens = 500}, 1);
  const auto batches = all_batches(batcher, 0);
  int64_t changes = 0;
  for (size_t k = 1; k < batches.size(); ++k) changes += batches[k].shape != batches[k - 1].shape;
  EXPECT_GT(changes, static_cast<int64_t>(batches.size()) / 2);
}

TEST(Batcher, KeepsTheOrderOfTheSplitWhereAsked) {
  const Batcher batcher(made_split(natural_lengths(300, 14, 0.4)),
                        {.tokens = 8000, .max_buckets = 1, .shuffle = false}, 1);
  EXPECT_EQ(all_sentences(all_batches(batcher, 0)), numbers_up_to(300));
  EXPECT_EQ(all_sentences(all_batches(batcher, 4)), numbers_up_to(300));
}

TEST(Batcher, LeavesOutAndCountsWhatIsTooLong) {
  const Batcher batcher(made_split({{3, 3}, {9, 3}, {3, 9}, {8, 8}}), {.max_length = 8}, 1);
  EXPECT_EQ(batcher.left_out(), 2);
  std::vector<int64_t> sentences = all_sentences(all_batches(batcher, 0));
  std::sort(sentences.begin(), sentences.end());
  EXPECT_EQ(sentences, (std::vector<int64_t>{0, 3}));
}

TEST(Batcher, NamesTheOptionThatIsWrong) {
  const Split split = made_split({{3, 3}, {90, 3}});
  EXPECT_THAT(usage_error([&] { Batcher(split, {.tokens = 80}, 1); }), HasSubstr("data.tokens"));
  EXPECT_THAT(usage_error([&] { Batcher(split, {.max_length = 2}, 1); }),
              HasSubstr("data.max_length"));
  EXPECT_THAT(usage_error([&] { Batcher(split, {.round_to = 0}, 1); }), HasSubstr("data.round_to"));
  EXPECT_NO_THROW(Batcher(split, {.tokens = 96}, 1));
  EXPECT_THROW(Batcher(made_split({}), {}, 1), Error);
  EXPECT_THROW(Batcher(split, {}, 1).batch(0, 100), Error);
  EXPECT_THROW(Batcher(split, {}, 1).batches(-1), Error);
}

// The share of padding in all places, both sides together, for lengths like those of image captions
// and of talks.
TEST(Batcher, PadsLittle) {
  struct Case {
    double median, spread;
    int64_t tokens;
  };
  for (const Case& c : {Case{14, 0.35, 8000}, Case{14, 0.35, 12000}, Case{22, 0.6, 8000}}) {
    const auto lengths = natural_lengths(29000, c.median, c.spread);
    const Batcher batcher(made_split(lengths), {.tokens = c.tokens}, 1);
    EXPECT_LE(batcher.shapes().size(), 24u);
    int64_t real = 0, places = 0;
    for (const auto& [source, target] : lengths) real += source + target;
    for (const Batch& batch : all_batches(batcher, 0))
      places += static_cast<int64_t>(batch.source.size() + batch.target.size());
    const double padding = 1 - static_cast<double>(real) / static_cast<double>(places);
    EXPECT_LT(padding, 0.2) << c.median << ' ' << c.tokens;
  }
}

}  // namespace
}  // namespace tessera::corpus
