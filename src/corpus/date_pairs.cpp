#include "corpus/date_pairs.h"

#include "base/require.h"
#include "corpus/date_spelling.h"

#include <algorithm>
#include <span>
#include <unordered_map>
#include <utility>

namespace tessera::corpus {
namespace {

using namespace std::chrono_literals;

constexpr Date kFirst = 1900y / 1 / 1, kLast = 2099y / 12 / 31;

// The order of batches uses streams of the same purpose with the epoch as step; no training reaches
// this step.
StreamId stream_id(uint64_t seed) {
  return {seed, Purpose::data_order, 0xFFFFFFFF};
}

enum Stream : uint64_t { kDates, kTrain, kValid, kTest };

std::vector<Date> shuffled_dates(uint64_t seed) {
  std::vector<Date> dates;
  for (auto day = std::chrono::sys_days(kFirst); day <= std::chrono::sys_days(kLast);
       day += std::chrono::days(1))
    dates.emplace_back(day);
  RandomStream random(stream_id(seed), kDates);
  for (size_t k = dates.size(); k > 1; --k) std::swap(dates[k - 1], dates[random.below(k)]);
  return dates;
}

DatePairs::Pair make_pair(const Date& date, RandomStream& random) {
  return {spell_date(date, random), iso_date(date)};
}

// Every date once, in one spelling.
std::vector<DatePairs::Pair> one_of_each(std::span<const Date> dates, uint64_t seed,
                                         Stream stream) {
  RandomStream random(stream_id(seed), stream);
  std::vector<DatePairs::Pair> pairs;
  for (const Date& date : dates) pairs.push_back(make_pair(date, random));
  return pairs;
}

std::vector<DatePairs::Pair> any_of(std::span<const Date> dates, int64_t count, uint64_t seed,
                                    Stream stream) {
  RandomStream random(stream_id(seed), stream);
  std::vector<DatePairs::Pair> pairs;
  for (int64_t k = 0; k < count; ++k)
    pairs.push_back(make_pair(dates[random.below(dates.size())], random));
  return pairs;
}

// All characters that pairs can have, in a fixed order, even if a seed does not use some: so models
// of different seeds agree on the symbols.
text::Tokenizer tiny_tokenizer() {
  std::unordered_map<std::string, int64_t> counts;
  const auto count = [&](const std::string& line) {
    for (const std::string& symbol :
         text::split_symbols(line, text::TokenizerKind::characters, true, nullptr))
      counts[symbol] = 1;
  };
  for (char letter = 'a'; letter <= 'z'; ++letter) {
    count(std::string(1, letter));
    count(std::string(1, static_cast<char>(letter - 'a' + 'A')));
  }
  count("0123456789 ,.-/");
  return text::Tokenizer::characters(text::Dictionary::from_counts(counts, 1000));
}

void write_split(CorpusWriter& writer, const std::string& name, const text::Tokenizer& tokenizer,
                 const std::vector<DatePairs::Pair>& pairs) {
  writer.begin_split(name);
  for (const auto& [source, target] : pairs) {
    ++writer.counts().read;
    writer.add(source, target, tokenizer.encode(source), tokenizer.encode(target));
  }
}

}  // namespace

DatePairs make_date_pairs(uint64_t seed, int64_t pairs) {
  require_option(pairs >= 1, "the tiny task needs at least one pair to train on, got {}", pairs);
  const std::vector<Date> dates = shuffled_dates(seed);
  const std::span<const Date> all(dates);
  return {any_of(all.subspan(kDateValid + kTinyTest), pairs, seed, kTrain),
          one_of_each(all.first(kDateValid), seed, kValid),
          one_of_each(all.subspan(kDateValid, kTinyTest), seed, kTest)};
}

Manifest make_date_corpus(const std::filesystem::path& folder, uint64_t seed, int64_t pairs,
                          CorpusWriter::Existing existing) {
  const DatePairs task = make_date_pairs(seed, pairs);
  const text::Tokenizer tokenizer = tiny_tokenizer();
  CorpusWriter writer(folder, tokenizer, existing);
  write_split(writer, "train", tokenizer, task.train);
  write_split(writer, "valid", tokenizer, task.valid);
  write_split(writer, "test", tokenizer, task.test);
  return writer.commit({{"task", "tiny"},
                        {"seed", std::to_string(seed)},
                        {"pairs", std::to_string(pairs)},
                        {"tokenizer", "characters"}});
}

}  // namespace tessera::corpus
