#include "command.h"

#include "base/log.h"
#include "base/numerals.h"
#include "base/progress.h"
#include "base/require.h"
#include "corpus/pair_reader.h"
#include "model_settings.h"
#include "option_checks.h"
#include "share.h"

#include <tessera/evaluation/target_scores.h>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <iostream>
#include <map>
#include <memory>
#include <ostream>
#include <sstream>
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
  ShareSettings share;
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

// The scores as lines of text.   first_line  number of the first target, from 1
void print_scores(std::ostream& out, const TargetScores& scores, size_t first_line, bool as_json) {
  for (size_t k = 0; k < scores.targets.size(); ++k) {
    const TargetScore& score = scores.targets[k];
    if (as_json)
      out << Json{{"line", first_line + k},         {"log_probability", score.log_probability},
                  {"symbols", score.symbols},       {"perplexity", score.perplexity()},
                  {"impossible", score.impossible}, {"log_probabilities", score.log_probabilities}}
                 .dump()
          << '\n';
    else
      out << fmt::format("{:.4f}\t{:.4f}\n", score.log_probability, score.perplexity());
  }
}

// The blocks of one of several processes.
void score_share(const ScoreModelCommand& command, const GlobalOptions& globals) {
  const Engine engine(command.model.folder, command.model.load_options(globals));
  const Shard share = command.share.share();
  const BlockFolder folder(command.share.out,
                           {{"command", "score-model"},
                            {"model", fingerprint_of_model(engine.folder())},
                            {"sources", facts_of_input(command.source)},
                            {"targets", facts_of_input(command.target)},
                            {"block", command.share.block},
                            {"form", globals.json ? "jsonl" : "txt"}},
                           globals.json ? "jsonl" : "txt");
  corpus::PairReader reader({command.source, command.target});
  Progress bar("scoring", 0);
  TargetScoreOptions options = command.options;
  options.progress = [&](int64_t more) { bar.advance(more); };
  const auto size = static_cast<size_t>(command.share.block);
  for (int64_t block = 0;; ++block) {
    std::vector<std::string> sources, targets;
    std::string_view source, target;
    while (sources.size() < size && reader.next(source, target)) {
      sources.emplace_back(source);
      targets.emplace_back(target);
    }
    if (sources.empty()) return folder.set_count(block);
    if (!share.owns(block) || folder.has(block)) continue;
    std::ostringstream made;
    print_scores(made, score_targets(engine, sources, targets, options),
                 static_cast<size_t>(block) * size + 1, globals.json);
    folder.write(block, made.view());
  }
}

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
  print_scores(std::cout, scores, 1, globals.json);
  Impossible impossible;
  for (size_t k = 0; k < scores.targets.size(); ++k)
    impossible.add(k + 1, scores.targets[k].impossible);
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
      ->option_text("RUN|MODEL");
  score->add_option("--src", command->source, "file of sources, one a line")->option_text("FILE");
  score->add_option("--tgt", command->target, "file of targets, one a line")->option_text("FILE");
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
  add_share_options(*score, command->share, "lines");
  score->add_option("--out", command->share.out, "with --shard: folder for the blocks")
      ->option_text("DIR");
  score->callback([command, &globals] {
    if (!command->share.join.empty()) return print_joined(command->share.join, "score-model");
    require_option(
        !command->model.folder.empty() && !command->source.empty() && !command->target.empty(),
        "name a model (RUN or MODEL) and the files --src and --tgt");
    require_option(command->share.shared() == !command->share.out.empty(),
                   "--shard and --out go together: the blocks of a share go to a folder");
    command->share.shared() ? score_share(*command, globals) : run_score_model(*command, globals);
  });
}

}  // namespace tessera::app
