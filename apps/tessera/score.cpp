#include "command.h"

#include "base/log.h"
#include "base/numerals.h"
#include "base/require.h"
#include "choices.h"
#include "evaluation/score_settings.h"
#include "option_checks.h"
#include "print_json.h"
#include "score_json.h"
#include "text/line_reader.h"

#include <tessera/evaluation/text_scores.h>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

namespace tessera::app {
namespace {

using Json = nlohmann::ordered_json;
using Lines = std::vector<std::string>;

struct ScoreCommand {
  std::string hypothesis, other;
  std::vector<std::string> references;
  std::string tokenization = "13a";
  bool sentences = false;
  TextScoreOptions options;
};

Lines read_lines(const std::string& path) {
  text::LineReader reader(path);
  Lines lines;
  for (std::string_view line; reader.next(line);) lines.emplace_back(line);
  require(!lines.empty(), "{}: there are no lines in it", reader.name());
  return lines;
}

// The options as the flags say; a metric that is named twice is computed once.
TextScoreOptions checked_options(const ScoreCommand& command) {
  const auto inputs = std::count(command.references.begin(), command.references.end(), "-") +
                      (command.hypothesis == "-") + (command.other == "-");
  require_option(inputs <= 1, "only one of the files can be '-', standard input");
  TextScoreOptions options = command.options;
  options.metrics.clear();
  for (const std::string& name : command.options.metrics)
    if (std::find(options.metrics.begin(), options.metrics.end(), name) == options.metrics.end())
      options.metrics.push_back(name);
  options.tokenization = command.tokenization;
  const evaluation::ScoreSettings known(options);  // throws for other names
  return options;
}

void require_equal_counts(const std::string& path, const Lines& lines, const std::string& first,
                          size_t expected) {
  require(lines.size() == expected,
          "{} has {} and {} has {}: line by line they must belong together", path,
          counted(static_cast<int64_t>(lines.size()), "line"), first,
          counted(static_cast<int64_t>(expected), "line"));
}

// As in sacreBLEU: 13a on text that is already tokenised gives figures that cannot be compared.
void warn_of_tokenised_text(const ScoreCommand& command, const Lines& hypothesis) {
  const auto suspicious = std::count_if(hypothesis.begin(), hypothesis.end(),
                                        [](const auto& line) { return line.ends_with(" ."); });
  if (command.tokenization == "13a" && suspicious >= 100)
    log::warn(
        "{} lines of {} end in ' .': is it tokenised already? Then use '--tokenize none', or put "
        "it back into plain text first",
        suspicious, command.hypothesis);
}

std::string interval_text(const ScoreInterval& interval) {
  return fmt::format("{:6.2f}  (μ = {:.2f} ± {:.2f}, 95 % in [{:.2f}, {:.2f}])", interval.score,
                     interval.mean, interval.half_width(), interval.low, interval.high);
}

std::string comparison_text(const ScoreCommand& command, const std::string& name,
                            const ScoreComparison& comparison) {
  const auto& [signature, result] = comparison;
  const size_t width =
      std::max({command.hypothesis.size(), command.other.size(), std::string("difference").size()});
  return fmt::format("{}|{}\n  {:<{}}  {}\n  {:<{}}  {}\n  {:<{}}  {:+6.2f}  (p = {:.4f})\n", name,
                     signature, command.hypothesis, width, interval_text(result.system),
                     command.other, width, interval_text(result.baseline), "difference", width,
                     result.difference, result.p_value);
}

std::string commented(const std::string& text) {
  std::string result;
  for (size_t begin = 0, end; begin < text.size(); begin = end + 1) {
    end = text.find('\n', begin);
    result += "# " + text.substr(begin, end - begin) + "\n";
  }
  return result;
}

std::string sentence_table(const std::vector<TextScore>& all) {
  std::string table = "line";
  for (const TextScore& score : all) table += "\t" + score.name;
  table += "\n";
  for (size_t i = 0; i < all.front().sentences.size(); ++i) {
    table += std::to_string(i + 1);
    for (const TextScore& score : all) table += fmt::format("\t{:.2f}", score.sentences[i]);
    table += "\n";
  }
  return table;
}

void print_text(const ScoreCommand& command, const std::vector<TextScore>& all) {
  std::string text;
  for (const TextScore& score : all) text += score.line + "\n";
  for (const TextScore& score : all)
    if (score.comparison) text += comparison_text(command, score.name, *score.comparison);
  if (!command.sentences) {
    std::cout << text;
    return;
  }
  for (const TextScore& score : all)
    if (score.sentence_signature != score.signature)
      text += fmt::format("{} of a line: {}\n", score.name, score.sentence_signature);
  std::cout << commented(text) << sentence_table(all);
}

Json interval_json(const ScoreInterval& interval) {
  return {{"score", interval.score},
          {"mean", interval.mean},
          {"low", interval.low},
          {"high", interval.high}};
}

Json json_of(const TextScore& score, const ScoreCommand& command) {
  Json json = score_json(score);
  if (command.sentences) {
    json["sentence_signature"] = score.sentence_signature;
    json["sentences"] = score.sentences;
  }
  if (score.comparison)
    json["comparison"] = {{"signature", score.comparison->signature},
                          {"hyp", interval_json(score.comparison->result.system)},
                          {"other", interval_json(score.comparison->result.baseline)},
                          {"difference", score.comparison->result.difference},
                          {"p_value", score.comparison->result.p_value}};
  return json;
}

void run_score(const ScoreCommand& command, const GlobalOptions& globals) {
  TextScoreOptions options = checked_options(command);
  const Lines hypothesis = read_lines(command.hypothesis);
  std::vector<Lines> references;
  for (const std::string& path : command.references) {
    references.push_back(read_lines(path));
    require_equal_counts(path, references.back(), command.hypothesis, hypothesis.size());
  }
  warn_of_tokenised_text(command, hypothesis);
  if (!command.other.empty()) {
    options.compare_with = read_lines(command.other);
    require_equal_counts(command.other, options.compare_with, command.hypothesis,
                         hypothesis.size());
    options.seed = globals.seed;
  }
  const std::vector<TextScore> all = score_texts(hypothesis, references, options);

  if (globals.json) {
    Json json{{"hyp", command.hypothesis},
              {"refs", command.references},
              {"lines", hypothesis.size()},
              {"metrics", Json::array()}};
    if (!command.other.empty()) json["other"] = command.other;
    for (const TextScore& score : all) json["metrics"].push_back(json_of(score, command));
    print_json(json);
    return;
  }
  print_text(command, all);
}

}  // namespace

void add_score(CLI::App& program, const GlobalOptions& globals) {
  CLI::App* score = program.add_subcommand(
      "score", "measure a file of sentences against references: BLEU, chrF, ROUGE");
  auto command = std::make_shared<ScoreCommand>();
  score
      ->add_option("--ref", command->references,
                   "the right sentences, one a line; give it again for further references")
      ->required()
      ->type_name("FILE");
  score
      ->add_option("--hyp", command->hypothesis,
                   "the sentences to measure, line by line; '-' is standard input")
      ->required()
      ->type_name("FILE");
  score
      ->add_option("--metric", command->options.metrics,
                   "what to compute, separated by commas; rouge is ROUGE-1, 2 and L")
      ->delimiter(',')
      ->type_name(choices<evaluation::Metric>())
      ->capture_default_str();
  score
      ->add_option("--tokenize", command->tokenization,
                   "for BLEU: 13a for plain text, none for text with blanks between all words, "
                   "moses-13a for text of Moses' scripts that is to be joined first")
      ->type_name(choices<text_metric::Tokenization>())
      ->capture_default_str();
  score->add_option("--smooth", command->options.smoothing, "for BLEU: smoothing of zero counts")
      ->type_name(choices<text_metric::Smoothing>())
      ->capture_default_str();
  score->add_flag("--lowercase", command->options.lowercase, "ignore case");
  score
      ->add_option("--compare", command->other,
                   "another system's sentences: test whether the difference is more than chance "
                   "(paired bootstrap, with --seed)")
      ->type_name("FILE");
  score->add_option("--samples", command->options.samples, "for --compare: how often to draw lines")
      ->capture_default_str()
      ->check(whole_number(1, 1000000));
  score->add_flag("--sentence", command->sentences,
                  "print a table with the scores of every line, separated by tabs, after lines "
                  "that begin with #");
  score->callback([command, &globals] { run_score(*command, globals); });
}

}  // namespace tessera::app
