#include "command.h"

#include "base/device.h"
#include "base/log.h"
#include "base/progress.h"
#include "base/require.h"
#include "model/model_folder.h"
#include "model/scorer.h"
#include "option_checks.h"
#include "text/pair_reader.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <iostream>
#include <memory>

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

void run_score_model(const ScoreModelCommand& command, const GlobalOptions& globals) {
  const std::filesystem::path folder = find_model_folder(command.folder, command.checkpoint);
  const model::LoadedModel loaded = model::load_model_folder(folder, parse_device(globals.device));
  const model::Autoregressive& model = model::require_autoregressive(*loaded.model, folder);

  std::vector<model::SourceSentence> sources;
  std::vector<std::vector<text::Id>> targets;
  text::PairReader reader({command.source, command.target});
  for (std::string_view source, target; reader.next(source, target);) {
    sources.push_back(
        {sources.size(), static_cast<int64_t>(sources.size()), loaded.tokenizer.encode(source)});
    sources.back().ids.push_back(text::Dictionary::kEos);
    targets.push_back(loaded.tokenizer.encode(target));
  }
  require(!sources.empty(), "'{}' has no lines", command.source.string());
  model::ScoringTask task{sources, {}};
  for (const auto& target : targets) task.targets.push_back({target});

  std::vector<std::vector<model::TargetScore>> scores;
  {
    Progress bar("scoring", static_cast<int64_t>(sources.size()));
    scores = model::score_targets(model, task, command.batch_tokens,
                                  [&](int64_t lines) { bar.advance(lines); });
  }
  double total = 0;
  int64_t symbols = 0;
  for (size_t k = 0; k < scores.size(); ++k) {
    const model::TargetScore& score = scores[k].front();
    total += score.total();
    symbols += score.symbols();
    const double own = perplexity(score.total(), score.symbols());
    if (globals.json)
      std::cout << Json{{"line", k + 1},
                        {"log_probability", score.total()},
                        {"symbols", score.symbols()},
                        {"perplexity", own},
                        {"log_probabilities", score.log_probabilities}}
                       .dump()
                << '\n';
    else
      std::cout << fmt::format("{:.4f}\t{:.4f}\n", score.total(), own);
  }
  log::info("{} lines, {} symbols: log-probability {:.2f}, perplexity {:.4f}", scores.size(),
            symbols, total, perplexity(total, symbols));
}

}  // namespace

void add_score_model(CLI::App& program, const GlobalOptions& globals) {
  CLI::App* score = program.add_subcommand(
      "score-model", "how likely an autoregressive model finds given targets, line by line");
  score->footer(
      "Prints the log-probability of every target (natural logarithm, end symbol included), a "
      "tab,\n"
      "and its perplexity per symbol; --json also those of its symbols, the end last. What all\n"
      "lines together have goes to stderr.");
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
  score->add_option("--checkpoint", command->checkpoint, "which one of a run: best, last or a step")
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
