#include "command.h"

#include "base/log.h"
#include "base/numerals.h"
#include "base/require.h"
#include "measurement.h"
#include "option_checks.h"
#include "print_json.h"
#include "text/line_reader.h"
#include "text_metric/bootstrap.h"

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
  std::vector<std::string> metrics{"bleu"};
  std::string tokenization = "13a", smoothing = "exp";
  bool lowercase = false;
  bool sentences = false;
  int samples = 1000;
};

Lines read_lines(const std::string& path) {
  text::LineReader reader(path);
  Lines lines;
  for (std::string_view line; reader.next(line);) lines.emplace_back(line);
  require(!lines.empty(), "{}: there are no lines in it", reader.name());
  return lines;
}

MeasureOptions checked_options(const ScoreCommand& command) {
  const auto inputs = std::count(command.references.begin(), command.references.end(), "-") +
                      (command.hypothesis == "-") + (command.other == "-");
  require_option(inputs <= 1, "only one of the files can be '-', standard input");
  MeasureOptions options;
  options.metrics.clear();
  for (const std::string& name : command.metrics) {
    const auto metric = parse_name<Metric>(name);
    if (std::find(options.metrics.begin(), options.metrics.end(), metric) == options.metrics.end())
      options.metrics.push_back(metric);
  }
  options.tokenization = parse_name<text_metric::Tokenization>(command.tokenization);
  options.smoothing = parse_name<text_metric::Smoothing>(command.smoothing);
  options.lowercase = command.lowercase;
  return options;
}

void require_equal_counts(const std::string& path, const Lines& lines, const std::string& first,
                          size_t expected) {
  require(lines.size() == expected,
          "{} has {} and {} has {}: line by line they must belong together", path,
          counted(static_cast<int64_t>(lines.size()), "line"), first,
          counted(static_cast<int64_t>(expected), "line"));
}

// As sacreBLEU does: 13a on text that is tokenised already gives figures no one can compare.
void warn_of_tokenised_text(const ScoreCommand& command, const Lines& hypothesis) {
  const auto suspicious = std::count_if(hypothesis.begin(), hypothesis.end(),
                                        [](const auto& line) { return line.ends_with(" ."); });
  if (command.tokenization == "13a" && suspicious >= 100)
    log::warn(
        "{} lines of {} end in ' .': is it tokenised already? Then use '--tokenize none', or put "
        "it back into plain text first",
        suspicious, command.hypothesis);
}

// The bootstrap's view of one score: the other system is the baseline.
struct Contest {
  std::string signature;
  text_metric::PairedBootstrap result;
};

std::string interval_text(const text_metric::ScoreInterval& interval) {
  return fmt::format("{:6.2f}  (μ = {:.2f} ± {:.2f}, 95 % in [{:.2f}, {:.2f}])", interval.score,
                     interval.mean, interval.half_width(), interval.low, interval.high);
}

std::string contest_text(const ScoreCommand& command, const std::string& name,
                         const Contest& contest) {
  const auto& [signature, result] = contest;
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

std::string sentence_table(const std::vector<Measurement>& all) {
  std::string table = "line";
  for (const auto& measurement : all) table += "\t" + measurement.name;
  table += "\n";
  for (size_t i = 0; i < all.front().sentences.size(); ++i) {
    table += std::to_string(i + 1);
    for (const auto& measurement : all) table += fmt::format("\t{:.2f}", measurement.sentences[i]);
    table += "\n";
  }
  return table;
}

void print_text(const ScoreCommand& command, const std::vector<Measurement>& all,
                const std::vector<Contest>& contests) {
  std::string text;
  for (const auto& measurement : all) text += measurement.line + "\n";
  for (size_t i = 0; i < contests.size(); ++i)
    text += contest_text(command, all[i].name, contests[i]);
  if (!command.sentences) {
    std::cout << text;
    return;
  }
  for (const auto& measurement : all)
    if (measurement.sentence_signature != measurement.signature)
      text += fmt::format("{} of a line: {}\n", measurement.name, measurement.sentence_signature);
  std::cout << commented(text) << sentence_table(all);
}

Json interval_json(const text_metric::ScoreInterval& interval) {
  return {{"score", interval.score},
          {"mean", interval.mean},
          {"low", interval.low},
          {"high", interval.high}};
}

Json measurement_json(const Measurement& measurement, const ScoreCommand& command,
                      const Contest* contest) {
  Json json{{"name", measurement.name},
            {"score", measurement.score},
            {"signature", measurement.signature},
            {"line", measurement.line}};
  json.update(measurement.details);
  if (command.sentences) {
    json["sentence_signature"] = measurement.sentence_signature;
    json["sentences"] = measurement.sentences;
  }
  if (contest != nullptr)
    json["comparison"] = {{"signature", contest->signature},
                          {"hyp", interval_json(contest->result.system)},
                          {"other", interval_json(contest->result.baseline)},
                          {"difference", contest->result.difference},
                          {"p_value", contest->result.p_value}};
  return json;
}

void run_score(const ScoreCommand& command, const GlobalOptions& globals) {
  const MeasureOptions asked = checked_options(command);
  const Lines hypothesis = read_lines(command.hypothesis);
  std::vector<Lines> references;
  for (const std::string& path : command.references) {
    references.push_back(read_lines(path));
    require_equal_counts(path, references.back(), command.hypothesis, hypothesis.size());
  }
  warn_of_tokenised_text(command, hypothesis);
  const auto all = measure(hypothesis, references, asked);

  std::vector<Contest> contests;
  if (!command.other.empty()) {
    const Lines other = read_lines(command.other);
    require_equal_counts(command.other, other, command.hypothesis, hypothesis.size());
    const text_metric::BootstrapOptions options{command.samples, globals.seed};
    const auto baselines = measure(other, references, asked);
    for (size_t i = 0; i < all.size(); ++i)
      contests.push_back(
          {text_metric::bootstrap_signature(all[i].signature, options),
           text_metric::paired_bootstrap(baselines[i].lines, all[i].lines, options)});
  }

  if (globals.json) {
    Json json{{"hyp", command.hypothesis},
              {"refs", command.references},
              {"lines", hypothesis.size()},
              {"metrics", Json::array()}};
    if (!command.other.empty()) json["other"] = command.other;
    for (size_t i = 0; i < all.size(); ++i)
      json["metrics"].push_back(
          measurement_json(all[i], command, contests.empty() ? nullptr : &contests[i]));
    print_json(json);
    return;
  }
  print_text(command, all, contests);
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
      ->add_option("--metric", command->metrics,
                   "what to compute, separated by commas: bleu, chrf, chrf++, rouge (ROUGE-1, 2 "
                   "and L)")
      ->delimiter(',')
      ->capture_default_str();
  score
      ->add_option("--tokenize", command->tokenization,
                   "for BLEU: 13a for plain text, none for text with blanks between all words, "
                   "moses-13a for text of Moses' scripts that is to be joined first")
      ->capture_default_str();
  score
      ->add_option("--smooth", command->smoothing,
                   "for BLEU: smoothing of zero counts: exp, floor, add-k or none")
      ->capture_default_str();
  score->add_flag("--lowercase", command->lowercase, "ignore case");
  score
      ->add_option("--compare", command->other,
                   "another system's sentences: test whether the difference is more than chance "
                   "(paired bootstrap, with --seed)")
      ->type_name("FILE");
  score->add_option("--samples", command->samples, "for --compare: how often to draw lines")
      ->capture_default_str()
      ->check(whole_number(1, 1000000));
  score->add_flag("--sentence", command->sentences,
                  "print a table with the scores of every line, separated by tabs, after lines "
                  "that begin with #");
  score->callback([command, &globals] { run_score(*command, globals); });
}

}  // namespace tessera::app
