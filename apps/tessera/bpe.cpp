#include "command.h"

#include "base/log.h"
#include "base/require.h"
#include "option_checks.h"
#include "text/bpe.h"
#include "text/bpe_learner.h"
#include "text/line_reader.h"

#include <filesystem>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

namespace tessera::app {
namespace {

struct LearnCommand {
  std::vector<std::filesystem::path> files;
  text::BpeLearnerOptions options;
  bool replace_invalid = false;
};

struct ApplyCommand {
  std::vector<std::filesystem::path> files;
  std::filesystem::path codes;
  std::filesystem::path vocabulary;
  int64_t threshold = 0;
  text::BpeOptions options;
  bool replace_invalid = false;
};

std::vector<std::filesystem::path> or_stdin(const std::vector<std::filesystem::path>& files) {
  return files.empty() ? std::vector<std::filesystem::path>{"-"} : files;
}

// Collects output and writes it in large pieces. The rest is written at the end, also if an error
// ends the work.
class Output {
 public:
  Output() = default;
  ~Output() { std::cout << text_; }
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  std::string& text() { return text_; }

  // False if going on is useless: nobody reads, or the disk is full. main() reports it.
  bool line_done() {
    if (text_.size() < kBytes) return true;
    std::cout << text_;
    text_.clear();
    return std::cout.good();
  }

 private:
  static constexpr size_t kBytes = size_t{1} << 18;
  std::string text_;
};

void run_learn(const LearnCommand& command) {
  text::WordCounts words;
  for (const auto& file : or_stdin(command.files)) {
    text::LineReader reader(file, {.replace_invalid = command.replace_invalid});
    std::string_view line;
    while (reader.next(line)) text::count_words(line, words);
  }
  require(!words.empty(), "there are no words to learn from");
  log::info("{} different words", words.size());
  const text::BpeCodes codes = text::learn_bpe(words, command.options);
  const auto learned = static_cast<int64_t>(codes.merges.size());
  if (learned < command.options.merges)
    log::warn("no pair of symbols occurs {} times any more: {} merges instead of {}",
              command.options.min_frequency, learned, command.options.merges);
  std::cout << codes.text();
}

void run_apply(const ApplyCommand& command) {
  text::BpeOptions options = command.options;
  if (!command.vocabulary.empty())
    options.vocabulary = text::load_bpe_vocabulary(command.vocabulary, command.threshold);
  const text::Bpe bpe(text::BpeCodes::load(command.codes), options);
  Output output;
  bool ended = true;  // whether a newline ended the last line
  for (const auto& file : or_stdin(command.files)) {
    text::LineReader reader(
        file, {.replace_invalid = command.replace_invalid, .keep_carriage_return = true});
    std::string_view line;
    while (reader.next(line)) {
      if (!ended) output.text() += '\n';
      bpe.apply(line, output.text());
      ended = reader.had_newline();
      if (ended) output.text() += '\n';
      if (!output.line_done()) return;
    }
  }
}

void add_files(CLI::App* command, std::vector<std::filesystem::path>& files, bool& replace) {
  command
      ->add_option("files", files,
                   "text, one sentence a line; .gz and .xz are fine, - is standard input, which is "
                   "read if no file is named")
      ->type_name("FILE");
  command->add_flag("--replace-invalid", replace,
                    "replace bytes that are not UTF-8 by U+FFFD instead of stopping there");
}

void add_learn(CLI::App* bpe) {
  CLI::App* learn = bpe->add_subcommand(
      "learn", "learn merges from tokenised text and print them: bpe learn a.txt b.txt > codes");
  auto command = std::make_shared<LearnCommand>();
  learn
      ->add_option("--merges", command->options.merges,
                   "how many pairs of symbols to merge: about the number of different pieces")
      ->capture_default_str()
      ->check(CLI::NonNegativeNumber);
  learn
      ->add_option("--min-frequency", command->options.min_frequency,
                   "stop when no pair occurs this often")
      ->capture_default_str()
      ->check(whole_number(1));
  add_files(learn, command->files, command->replace_invalid);
  learn->callback([command] { run_learn(*command); });
}

void add_apply(CLI::App* bpe) {
  CLI::App* apply = bpe->add_subcommand(
      "apply", "split the words of a text into pieces: bpe apply --codes codes < a.txt > a.bpe");
  auto command = std::make_shared<ApplyCommand>();
  apply->add_option("--codes", command->codes, "merges, as 'bpe learn' or subword-nmt prints them")
      ->type_name("FILE")
      ->required();
  apply
      ->add_option("--merges", command->options.merges,
                   "use only this many merges, from the first on; -1: all")
      ->capture_default_str();
  apply
      ->add_option("--separator", command->options.separator,
                   "what marks a piece that does not end its word")
      ->capture_default_str();
  CLI::Option* vocabulary =
      apply
          ->add_option("--vocabulary", command->vocabulary,
                       "lines 'piece count': pieces that are not there are split further")
          ->type_name("FILE");
  apply
      ->add_option("--vocabulary-threshold", command->threshold,
                   "leave out pieces of the vocabulary that occur less often")
      ->needs(vocabulary);
  add_files(apply, command->files, command->replace_invalid);
  apply->footer("To put the words together again: sed -E 's/@@( |$)//g'");
  apply->callback([command] { run_apply(*command); });
}

}  // namespace

void add_bpe(CLI::App& program) {
  CLI::App* bpe =
      program.add_subcommand("bpe", "learn and apply byte-pair encoding, as subword-nmt does");
  bpe->require_subcommand(1);
  add_learn(bpe);
  add_apply(bpe);
}

}  // namespace tessera::app
