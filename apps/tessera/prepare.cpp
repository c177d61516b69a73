#include "corpus/prepare.h"
#include "base/log.h"
#include "choices.h"
#include "command.h"
#include "corpus/date_pairs.h"
#include "image/prepare.h"
#include "prepare_images.h"
#include "print_json.h"
#include "text_chart.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <chrono>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

namespace tessera::app {
namespace {

struct PrepareCommand {
  corpus::PrepareOptions options;
  std::vector<std::string> train, valid, test;  // two files, or one TSV
  std::string tokenizer = "bpe";
  std::string languages;  // "de:en"; empty: not said
  bool vocab_given = false;
  bool tiny = false;
  int64_t pairs = corpus::kDatePairs;
  std::string images, from, with;  // --images, --from and --with; empty: text
};

corpus::PairFiles pair_files(const std::vector<std::string>& names) {
  return {names[0], names.size() > 1 ? names[1] : ""};
}

corpus::PrepareOptions options_of(const PrepareCommand& command) {
  corpus::PrepareOptions options = command.options;
  options.tokenizer = parse_name<text::TokenizerKind>(command.tokenizer);
  if (!command.vocab_given && !options.codes.empty()) options.vocab = 0;
  if (!command.languages.empty()) options.languages = parse_languages(command.languages);
  if (!command.train.empty()) options.splits["train"] = pair_files(command.train);
  if (!command.valid.empty()) options.splits["valid"] = pair_files(command.valid);
  if (!command.test.empty()) options.splits["test"] = pair_files(command.test);
  return options;
}

void log_counts(const corpus::Manifest& manifest) {
  constexpr const char* row = "{:<6} {:>11} {:>11} {:>8} {:>9} {:>7} {:>14} {:>14} {:>9}";
  log::info(row, "split", "read", "kept", "empty", "too long", "uneven", "source tokens",
            "target tokens", "unknown");
  for (const char* name : {"train", "valid", "test"}) {
    if (!manifest.splits.contains(name)) continue;
    const corpus::SplitCounts& counts = manifest.splits.at(name);
    log::info(row, name, with_commas(counts.read), with_commas(counts.kept),
              with_commas(counts.empty), with_commas(counts.too_long), with_commas(counts.uneven),
              with_commas(counts.source_tokens), with_commas(counts.target_tokens),
              with_commas(counts.source_unknown + counts.target_unknown));
  }
}

void run_prepare(const PrepareCommand& command, const GlobalOptions& globals) {
  if (command.options.out.empty())
    throw UsageError("prepare needs a folder to write to", "tessera prepare --out DIR ...");
  if (!command.images.empty()) {
    prepare_images({command.images, command.from, command.with, command.options.out, command.valid,
                    command.options.replace_corpus},
                   globals);
    return;
  }
  const auto began = std::chrono::steady_clock::now();
  const corpus::PrepareOptions options = options_of(command);
  if (command.tiny && !options.splits.empty())
    throw UsageError("--tiny makes its own sentences: it takes no files");
  if (command.tiny && !command.languages.empty())
    throw UsageError("--tiny makes dates, which are of no language: leave out --languages");
  const corpus::Manifest manifest =
      command.tiny ? corpus::make_date_corpus(options.out, globals.seed, command.pairs,
                                              options.replace_corpus
                                                  ? corpus::CorpusWriter::Existing::replace
                                                  : corpus::CorpusWriter::Existing::refuse)
                   : corpus::prepare(options);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - began;

  log_counts(manifest);
  log::info("{} symbols in the dictionary, {:.1f} s", with_commas(manifest.symbols),
            seconds.count());
  if (!globals.json) {
    std::cout << options.out.string() << '\n';
    return;
  }
  auto report = nlohmann::ordered_json::parse(manifest.json());
  report["folder"] = options.out.string();
  report["seconds"] = seconds.count();
  print_json(report);
}

// Throws Error, naming an option, for text options with --images, and for options of images without
// it.
void check_clashes(const CLI::App& prepare) {
  const bool images = prepare.count("--images") > 0;
  for (const char* name : {"--from", "--with"})
    if (!images && prepare.count(name) > 0)
      throw UsageError(fmt::format("{} is for images: say what they are with --images", name));
  if (!images) return;
  for (const char* name :
       {"--train", "--test", "--languages", "--tokenizer", "--vocab", "--pretokenised", "--codes",
        "--dict", "--max-length", "--max-ratio", "--replace-invalid", "--tiny", "--pairs"})
    if (prepare.count(name) > 0)
      throw UsageError(fmt::format("{} is for text: it does not go with --images", name));
}

void add_files(CLI::App& prepare, const std::string& name, std::vector<std::string>& files,
               const std::string& help) {
  prepare.add_option(name, files, help)->expected(1, 2)->type_name("SOURCE TARGET | TSV");
}

}  // namespace

void add_prepare(CLI::App& program, const GlobalOptions& globals) {
  CLI::App* prepare =
      program.add_subcommand("prepare",
                             "make a corpus from files of sentences (learns subwords and a "
                             "dictionary, filters, writes ids), or a data set from images");
  prepare->footer(
      "Files hold one sentence a line; line k of SOURCE belongs to line k of TARGET. One file\n"
      "instead of two holds lines \"source TAB target\". Names that end in .gz or .xz are "
      "decompressed.\n"
      "  tessera prepare --train train.de train.en --valid val.de val.en --test test.de test.en "
      "\\\n"
      "                  --languages de:en --vocab 8000 --out data/m30k\n"
      "Text that is tokenised already, with subword-nmt's codes and a dictionary at hand:\n"
      "  tessera prepare --train train.de train.en --pretokenised --codes code --dict dict.txt "
      "--out data/x\n"
      "Images: CIFAR-10's binary files, idx files (MNIST and the like), or a folder of PNGs:\n"
      "  tessera prepare --images cifar10 --from cifar-10-batches-bin --out data/cifar10\n"
      "Codes that an autoencoder gives to such a data set, for models of codes:\n"
      "  tessera prepare --images codes --with runs/vq --from data/cifar10 --out data/codes");
  auto command = std::make_shared<PrepareCommand>();
  corpus::PrepareOptions& options = command->options;
  add_files(*prepare, "--train", command->train, "training pairs; filtered");
  add_files(*prepare, "--valid", command->valid,
            "pairs to choose the best model by during training; every line is kept. With --images: "
            "how many of the last training images to hold out for that");
  add_files(*prepare, "--test", command->test,
            "pairs to measure with at the end; every line is kept");
  prepare
      ->add_option("--languages", command->languages,
                   "codes of the languages of SOURCE and TARGET; models that are trained on the "
                   "corpus carry them")
      ->type_name("DE:EN");
  prepare->add_option("--out", options.out, "folder to write the corpus or data set to")
      ->type_name("DIR");
  prepare->add_flag("--force", options.replace_corpus,
                    "replace a corpus or data set that is there already");
  prepare
      ->add_option("--tokenizer", command->tokenizer,
                   "kind of token; those of bpe are pieces of words")
      ->type_name(choices<text::TokenizerKind>())
      ->capture_default_str();
  CLI::Option* vocab =
      prepare
          ->add_option("--vocab", options.vocab,
                       "size of the dictionary both languages share, special symbols included "
                       "(0: all that occur; the default with --codes)")
          ->capture_default_str();
  prepare->add_flag("--pretokenised,--pretokenized", options.pretokenised,
                    "text is tokenised already, with blanks between tokens (otherwise punctuation "
                    "is split off here and joined again in a model's output)");
  prepare->add_option("--codes", options.codes, "BPE merges of subword-nmt, instead of learning")
      ->type_name("FILE");
  prepare
      ->add_option("--dict", options.dictionary,
                   "dictionary of lines \"symbol count\", as fairseq's, instead of counting")
      ->type_name("FILE");
  prepare
      ->add_option("--max-length", options.max_length,
                   "leave out training pairs with a longer side, in tokens")
      ->capture_default_str();
  prepare
      ->add_option(
          "--max-ratio", options.max_ratio,
          "leave out training pairs with one side this many times longer than the other (0: none)")
      ->capture_default_str();
  prepare->add_flag("--replace-invalid", options.replace_invalid,
                    "replace NUL bytes and invalid UTF-8 by U+FFFD (otherwise an error)");
  prepare->add_flag("--tiny", command->tiny,
                    "no files: make up dates written in many ways, to be written as ISO dates");
  prepare->add_option("--pairs", command->pairs, "pairs of --tiny to train on")
      ->capture_default_str();
  prepare
      ->add_option("--images", command->images,
                   "prepare images instead of text: their format; or codes, made from a prepared "
                   "data set")
      ->type_name(choices<image::Format>() + "|codes");
  prepare->add_option("--from", command->from, "folder of the images")->type_name("DIR");
  prepare
      ->add_option("--with", command->with,
                   "for --images codes: the autoencoder, a training run or a model")
      ->type_name("RUN|MODEL");
  prepare->callback([command, prepare, vocab, &globals] {
    check_clashes(*prepare);
    command->vocab_given = vocab->count() > 0;
    run_prepare(*command, globals);
  });
}

}  // namespace tessera::app
