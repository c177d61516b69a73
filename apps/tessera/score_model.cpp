#include "command.h"

#include "base/log.h"
#include "base/numerals.h"
#include "base/progress.h"
#include "base/require.h"
#include "corpus/pair_reader.h"
#include "model_settings.h"
#include "option_checks.h"

#include <tessera/evaluation/target_scores.h>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
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
  ModelSettings model;
  std::filesystem::path source, target;
  TargetScoreOptions options;
};

// The symbols that the figures leave out, because their probability is 0.
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
  const Engine engine(command.model.folder, command.model.load_options(globals));
  std::vector<std::string> sources, targets;
  corpus::PairReader reader({command.source, command.target});
  for (std::string_view source, target; reader.next(source, target);) {
    sources.emplace_back(source);
    targets.emplace_back(target);
  }
  require(!sources.empty(), "'{}' has no lines", command.source.string());
  TargetScores scores;
  {
    Progress bar("scoring", std::ssize(sources));
    TargetScoreOptions options = command.options;
    options.progress = [&](int64_t more) { bar.advance(more); };
    scores = score_targets(engine, sources, targets, options);
  }
  Impossible impossible;
  for (size_t k = 0; k < scores.targets.size(); ++k) {
    const TargetScore& score = scores.targets[k];
    impossible.add(k + 1, score.impossible);
    if (globals.json)
      std::cout << Json{{"line", k + 1},
                        {"log_probability", score.log_probability},
                        {"symbols", score.symbols},
                        {"perplexity", score.perplexity()},
                        {"impossible", score.impossible},
                        {"log_probabilities", score.log_probabilities}}
                       .dump()
                << '\n';
    else
      std::cout << fmt::format("{:.4f}\t{:.4f}\n", score.log_probability, score.perplexity());
  }
  log::info("{}, {}: log-probability {:.2f}, perplexity {:.4f}",
            counted(std::ssize(sources), "line"), counted(scores.symbols, "symbol"),
            scores.log_probability, scores.perplexity());
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
  score->add_option("folder", command->model.folder, "folder of a training run, or of a model")
      ->required()
      ->option_text("RUN|MODEL");
  score->add_option("--src", command->source, "file of sources, one a line")
      ->required()
      ->option_text("FILE");
  score->add_option("--tgt", command->target, "file of targets, one a line")
      ->required()
      ->option_text("FILE");
  score
      ->add_option("--checkpoint", command->model.checkpoint,
                   "checkpoint of a run: best, last or a number of updates")
      ->option_text("best|last|N");
  score
      ->add_option("--batch-tokens", command->options.batch_tokens,
                   "size of a batch, in targets x length; lower it if memory runs out")
      ->capture_default_str()
      ->check(whole_number(1))
      ->option_text("N");
  score->callback([command, &globals] { run_score_model(*command, globals); });
}

}  // namespace tessera::app
