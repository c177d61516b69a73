#include "command.h"

#include "base/log.h"
#include "base/numerals.h"
#include "base/progress.h"
#include "base/require.h"
#include "corpus/pair_reader.h"
#include "option_checks.h"
#include "seq2seq/model_folder.h"
#include "seq2seq/scorer.h"
#include "tensor/device.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace tessera::app {
namespace {

using Json = nlohmann::ordered_json;

struct ScoreModelCommand {
  std::filesystem::path folder, source, target;
  std::string checkpoint;
  int64_t batch_tokens = 48000;
};

double perplexity(double log_probability, int64_t symbols) {
  return std::exp(-log_probability / static_cast<double>(symbols));
}

// The symbols of a target that the model never writes.
std::vector<std::string> impossible_symbols(const seq2seq::TargetScore& score,
                                            const std::vector<text::Id>& target,
                                            const text::Dictionary& dictionary) {
  std::vector<std::string> symbols;
  for (size_t k = 0; k < target.size(); ++k)
    if (seq2seq::TargetScore::is_impossible(score.log_probabilities[k]))
      symbols.push_back(dictionary.symbol(target[k]));
  return symbols;
}

// What was left out of the figures.
class Impossible {
 public:
  void add(size_t line, const std::vector<std::string>& symbols) {
    if (symbols.empty()) return;
    if (lines_ == 0) first_line_ = line;
    ++lines_;
    count_ += static_cast<int64_t>(symbols.size());
    for (const std::string& symbol : symbols) ++counts_[symbol];
  }

  int64_t count() const { return count_; }

  std::string text() const {
    std::vector<std::pair<int64_t, std::string>> often;
    for (const auto& [symbol, count] : counts_) often.emplace_back(-count, symbol);
    std::sort(often.begin(), often.end());
    std::vector<std::string> named;
    for (const auto& [count, symbol] : often)
      if (named.size() < kMostNamed) named.push_back(fmt::format("'{}' ({})", symbol, -count));
    if (often.size() > kMostNamed) named.push_back("...");
    return fmt::format(
        "the figures leave out {} in {}, line {} first, which the model never writes: no target of "
        "its training has them, so their probability is 0: {}",
        counted(count_, "symbol"), counted(lines_, "line"), first_line_, fmt::join(named, ", "));
  }

 private:
  static constexpr size_t kMostNamed = 10;
  int64_t lines_ = 0, count_ = 0;
  size_t first_line_ = 0;                  // from 1
  std::map<std::string, int64_t> counts_;  // by symbol
};

void run_score_model(const ScoreModelCommand& command, const GlobalOptions& globals) {
  const std::filesystem::path folder = find_model_folder(command.folder, command.checkpoint);
  const seq2seq::LoadedModel loaded =
      seq2seq::load_model_folder(folder, parse_device(globals.device));
  const seq2seq::Seq2Seq& model = *loaded.model;
  seq2seq::require_probabilities(model, folder);

  std::vector<seq2seq::SourceSentence> sources;
  std::vector<std::vector<text::Id>> targets;
  corpus::PairReader reader({command.source, command.target});
  for (std::string_view source, target; reader.next(source, target);) {
    sources.push_back(
        {sources.size(), static_cast<int64_t>(sources.size()), loaded.tokenizer.encode(source)});
    sources.back().ids.push_back(text::Dictionary::kEos);
    targets.push_back(loaded.tokenizer.encode(target));
  }
  require(!sources.empty(), "'{}' has no lines", command.source.string());
  seq2seq::ScoringTask task{sources, {}};
  for (const auto& target : targets) task.targets.push_back({target});

  const auto lines = static_cast<int64_t>(sources.size());
  std::vector<std::vector<seq2seq::TargetScore>> scores;
  {
    Progress bar("scoring", lines);
    scores = seq2seq::score_targets(model, task, command.batch_tokens,
                                    [&](int64_t done) { bar.advance(done); });
  }
  double total = 0;
  int64_t symbols = 0;
  Impossible impossible;
  for (size_t k = 0; k < scores.size(); ++k) {
    const seq2seq::TargetScore& all = scores[k].front();
    const seq2seq::TargetScore score = all.possible();
    const std::vector<std::string> left_out =
        impossible_symbols(all, targets[k], loaded.tokenizer.dictionary());
    impossible.add(k + 1, left_out);
    total += score.total();
    symbols += score.symbols();
    const double own = perplexity(score.total(), score.symbols());
    if (globals.json)
      std::cout << Json{{"line", k + 1},
                        {"log_probability", score.total()},
                        {"symbols", score.symbols()},
                        {"perplexity", own},
                        {"impossible", left_out},
                        {"log_probabilities", all.log_probabilities}}
                       .dump()
                << '\n';
    else
      std::cout << fmt::format("{:.4f}\t{:.4f}\n", score.total(), own);
  }
  log::info("{}, {}: log-probability {:.2f}, perplexity {:.4f}", counted(lines, "line"),
            counted(symbols, "symbol"), total, perplexity(total, symbols));
  if (impossible.count() > 0) log::warn("{}", impossible.text());
}

}  // namespace

void add_score_model(CLI::App& program, const GlobalOptions& globals) {
  CLI::App* score = program.add_subcommand(
      "score-model", "log-probability that an autoregressive model gives to targets, line by line");
  score->footer(
      "Prints the log-probability of every target (natural logarithm, end symbol included), a "
      "tab,\n"
      "and its perplexity per symbol; --json also those of its symbols, the end last. What all\n"
      "lines together have goes to stderr. Symbols that no target of training has are impossible\n"
      "for the model: the figures leave them out, a warning counts them, and --json lists them\n"
      "(\"impossible\"; null among the log-probabilities).");
  auto command = std::make_shared<ScoreModelCommand>();
  score->add_option("folder", command->folder, "folder of a training run, or of a model")
      ->required()
      ->option_text("RUN|MODEL");
  score->add_option("--src", command->source, "file of sources, one a line")
      ->required()
      ->option_text("FILE");
  score->add_option("--tgt", command->target, "file of targets, one a line")
      ->required()
      ->option_text("FILE");
  score
      ->add_option("--checkpoint", command->checkpoint,
                   "checkpoint of a run: best, last or a number of updates")
      ->option_text("best|last|N");
  score
      ->add_option("--batch-tokens", command->batch_tokens,
                   "size of a batch, in targets x length; lower it if memory runs out")
      ->capture_default_str()
      ->check(whole_number(1))
      ->option_text("N");
  score->callback([command, &globals] { run_score_model(*command, globals); });
}

}  // namespace tessera::app
