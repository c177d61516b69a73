#include "corpus/prepare.h"

#include "base/log.h"
#include "base/progress.h"
#include "base/require.h"
#include "corpus/column_order.h"
#include "corpus/corpus_writer.h"
#include "corpus/shared_pairs.h"
#include "files/file_name.h"
#include "text/vocabulary.h"

#include <algorithm>
#include <limits>

namespace tessera::corpus {
namespace {

constexpr const char* kTrain = "train";
constexpr double kUnknownWarning = 0.01, kUnknownError = 0.5;
constexpr int64_t kLargestVocabulary = 100'000'000;

text::LineReaderOptions reader_options(const PrepareOptions& options) {
  return {.replace_invalid = options.replace_invalid};
}

bool is_learned(const PrepareOptions& options) {
  return options.dictionary.empty();
}

// Whether the bytes can be read only once.
bool is_stream(const std::filesystem::path& path) {
  std::error_code ignored;
  const auto type = std::filesystem::status(path, ignored).type();
  return path == "-" || type == std::filesystem::file_type::fifo ||
         type == std::filesystem::file_type::character ||
         type == std::filesystem::file_type::socket;
}

// Finds what can be found wrong before any file is read to the end.
void check(const PrepareOptions& options) {
  require_option(!options.splits.empty(), "there are no files to prepare: name some (--train)");
  require_option(!is_learned(options) || options.splits.contains(kTrain),
                 "training files are needed to learn a dictionary from");
  const bool bpe = options.tokenizer == text::TokenizerKind::bpe;
  const bool any_size = options.vocab == 0 && !(bpe && options.codes.empty());
  require_option(any_size || options.vocab > text::Dictionary::kSpecials,
                 "the vocabulary must have more than the {} special symbols, got {}",
                 text::Dictionary::kSpecials, options.vocab);
  require_option(options.vocab <= kLargestVocabulary, "the vocabulary can have {} symbols, got {}",
                 kLargestVocabulary, options.vocab);
  require_option(options.max_length >= 2, "the longest sentence must be at least 2 tokens, got {}",
                 options.max_length);
  require_option(options.max_ratio == 0 || options.max_ratio >= 1,
                 "the length ratio must be at least 1 (0: any), got {}", options.max_ratio);
  require_option(options.codes.empty() || bpe, "codes are for the tokenizer bpe, not for {}",
                 name_of(options.tokenizer));
  require_option(!bpe || options.dictionary.empty() || !options.codes.empty(),
                 "a dictionary of pieces needs the codes that make them");
  for (const auto& [name, files] : options.splits) {
    require_file_name(name, "the name of a split");
    for (const auto& file : {files.source, files.target})
      require_option(!is_stream(file), "'{}' cannot be the split {}: a file is read twice",
                     file.string(), name);
    PairReader reader(files, reader_options(options));
    std::string_view source, target;
    require(reader.next(source, target), "'{}' is empty: there is nothing to put into the split {}",
            files.source.string(), name);
  }
}

// Calls use(source, target) for every pair of a split.
template <class Use>
int64_t for_each_pair(const PrepareOptions& options, const std::string& split,
                      const std::string& action, int64_t expected, const Use& use) {
  PairReader reader(options.splits.at(split), reader_options(options));
  Progress bar(action + " " + split, expected);
  std::string_view source, target;
  while (reader.next(source, target)) {
    use(source, target);
    bar.advance();
  }
  return reader.pairs();
}

text::Tokenizer given_tokenizer(const PrepareOptions& options) {
  const bool raw = !options.pretokenised;
  text::Dictionary dictionary = text::Dictionary::load(options.dictionary);
  switch (options.tokenizer) {
    case text::TokenizerKind::words:
      return text::Tokenizer::words(std::move(dictionary), raw);
    case text::TokenizerKind::characters:
      return text::Tokenizer::characters(std::move(dictionary));
    case text::TokenizerKind::bpe:
      break;
  }
  return text::Tokenizer::bpe(text::Bpe(text::BpeCodes::load(options.codes)), std::move(dictionary),
                              raw);
}

//   pairs  of the training files, known afterwards
text::Tokenizer learned_tokenizer(const PrepareOptions& options, int64_t& pairs) {
  const int64_t size = options.vocab > 0 ? options.vocab : std::numeric_limits<int64_t>::max();
  // Read first, so that a bad file is found before the work.
  const text::BpeCodes codes =
      options.codes.empty() ? text::BpeCodes{} : text::BpeCodes::load(options.codes);
  text::VocabularyLearner learner(
      {.kind = options.tokenizer, .size = size, .raw = !options.pretokenised});
  pairs = for_each_pair(options, kTrain, "counting", 0,
                        [&](std::string_view source, std::string_view target) {
                          learner.add(source);
                          learner.add(target);
                        });
  return options.codes.empty() ? learner.learn() : learner.learn_dictionary(codes);
}

// Whether a pair of sentences (without end symbols) may be trained on; counts it if not.
bool passes_filters(size_t source, size_t target, const PrepareOptions& options,
                    SplitCounts& counts) {
  const auto [shorter, longer] = std::minmax(source, target);
  if (shorter == 0) {
    ++counts.empty;
  } else if (static_cast<int64_t>(longer) + 1 > options.max_length) {
    ++counts.too_long;
  } else if (options.max_ratio > 0 &&
             static_cast<double>(longer) > options.max_ratio * static_cast<double>(shorter)) {
    ++counts.uneven;
  } else {
    return true;
  }
  return false;
}

void check_unknown(const std::string& split, const std::string& side, int64_t unknown,
                   int64_t tokens, const PrepareOptions& options) {
  const double share =
      static_cast<double>(unknown) / static_cast<double>(std::max<int64_t>(1, tokens));
  if (share >= kUnknownError)
    throw Error(fmt::format("{:.0f} % of the {} tokens of {} are not in the dictionary{}",
                            100 * share, side, split,
                            is_learned(options) ? "" : " '" + options.dictionary.string() + "'"),
                is_learned(options)
                    ? "use a larger vocabulary, or subwords"
                    : "do the dictionary, the codes and the text belong together? Text "
                      "that is tokenised already needs --pretokenised");
  if (share >= kUnknownWarning)
    log::warn("{:.1f} % of the {} tokens of {} are not in the dictionary", 100 * share, side,
              split);
}

// Mistakes in naming files: nothing fails, but what is measured then means nothing.
class Suspicions {
 public:
  Suspicions(const PrepareOptions& options, int64_t symbols) : symbols_(symbols), train_(symbols) {
    if (!options.splits.contains(kTrain)) return;
    for (const auto& [split, files] : options.splits)
      if (split != kTrain)
        for_each_pair(options, split, "reading", 0,
                      [&, name = split](std::string_view source, std::string_view target) {
                        shared_.hold_out(name, source, target);
                      });
  }

  // Training pairs must come first.
  void add(const std::string& split, int64_t line, std::string_view source, std::string_view target,
           std::span<const text::Id> source_ids, std::span<const text::Id> target_ids) {
    if (split == kTrain) shared_.train(line, source, target);
    counts(split).add(source_ids, target_ids);
  }

  void warn_of(const std::string& split) {
    if (const SharedPairs::Found found = shared_.in(split); found.shared > 0)
      log::warn(
          "{} of the {} pairs of {} {} too (line {} is line {} of train): scores of {} will be "
          "too good",
          found.shared, found.pairs, split,
          found.shared == 1 ? "is a training pair" : "are training pairs", found.line,
          found.training_line, split);
    if (split != kTrain && seem_swapped(counts(split), train_))
      log::warn(
          "the columns of {} seem to be swapped: its sources read like the targets of train. "
          "Name the files in the order of --train",
          split);
  }

 private:
  SideCounts& counts(const std::string& split) {
    return split == kTrain ? train_ : held_out_.try_emplace(split, symbols_).first->second;
  }

  int64_t symbols_;
  SharedPairs shared_;
  SideCounts train_;
  std::map<std::string, SideCounts> held_out_;
};

void write_split(CorpusWriter& writer, const std::string& split, int64_t expected,
                 const text::Tokenizer& tokenizer, const PrepareOptions& options,
                 Suspicions& suspicions) {
  const bool train = split == kTrain;
  writer.begin_split(split);
  SplitCounts& counts = writer.counts();
  int64_t long_ones = 0, line = 0;
  counts.read = for_each_pair(
      options, split, "encoding", expected, [&](std::string_view source, std::string_view target) {
        ++line;
        const std::vector<text::Id> source_ids = tokenizer.encode(source);
        const std::vector<text::Id> target_ids = tokenizer.encode(target);
        if (train && !passes_filters(source_ids.size(), target_ids.size(), options, counts)) return;
        const size_t longer = std::max(source_ids.size(), target_ids.size());
        long_ones += static_cast<int64_t>(longer) + 1 > options.max_length;
        writer.add(source, target, source_ids, target_ids);
        suspicions.add(split, line, source, target, source_ids, target_ids);
      });
  if (long_ones > 0)
    log::warn("{} of {} pairs of {} have more than {} tokens; they are kept, as all of {}",
              long_ones, counts.read, split, options.max_length, split);
  require(counts.kept > 0,
          "no pair of '{}' is left to train on: of {} are {} empty, {} too long, {} too uneven",
          options.splits.at(split).source.string(), counts.read, counts.empty, counts.too_long,
          counts.uneven);
  check_unknown(split, "source", counts.source_unknown, counts.source_tokens, options);
  check_unknown(split, "target", counts.target_unknown, counts.target_tokens, options);
  suspicions.warn_of(split);
}

std::string file_names(const PairFiles& files) {
  return files.target.empty() ? files.source.string()
                              : files.source.string() + " " + files.target.string();
}

std::map<std::string, std::string> stored_options(const PrepareOptions& options) {
  std::map<std::string, std::string> stored{
      {"tokenizer", std::string(name_of(options.tokenizer))},
      {"vocab", std::to_string(options.vocab)},
      {"pretokenised", options.pretokenised ? "true" : "false"},
      {"codes", options.codes.string()},
      {"dict", options.dictionary.string()},
      {"max_length", std::to_string(options.max_length)},
      {"max_ratio", fmt::format("{}", options.max_ratio)},
      {"replace_invalid", options.replace_invalid ? "true" : "false"}};
  for (const auto& [name, files] : options.splits) stored[name] = file_names(files);
  return stored;
}

}  // namespace

Manifest prepare(const PrepareOptions& options) {
  check(options);
  const auto existing =
      options.replace_corpus ? CorpusWriter::Existing::replace : CorpusWriter::Existing::refuse;
  CorpusWriter::check_folder(options.out, existing);
  int64_t train_pairs = 0;  // 0: unknown
  const text::Tokenizer tokenizer =
      is_learned(options) ? learned_tokenizer(options, train_pairs) : given_tokenizer(options);
  CorpusWriter writer(options.out, tokenizer, existing);
  Suspicions suspicions(options, tokenizer.dictionary().size());
  if (options.splits.contains(kTrain))
    write_split(writer, kTrain, train_pairs, tokenizer, options, suspicions);
  for (const auto& [split, files] : options.splits)
    if (split != kTrain) write_split(writer, split, 0, tokenizer, options, suspicions);
  return writer.commit(stored_options(options), options.languages);
}

}  // namespace tessera::corpus
