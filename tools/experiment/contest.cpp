#include "experiment/contest.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "base/log.h"
#include "base/require.h"
#include "corpus/corpus.h"
#include "text/line_reader.h"
#include "text_metric/exact_match.h"

namespace tessera::experiment {
namespace {

using Lines = std::vector<std::string>;
using text_metric::AdditiveMetric;

Lines read_lines(const std::filesystem::path& path) {
  text::LineReader reader(path);
  Lines lines;
  for (std::string_view line; reader.next(line);) lines.emplace_back(line);
  return lines;
}

// "none" for "tok" of "nrefs:1|case:mixed|eff:no|tok:none|smooth:exp|...".
std::string field(const std::string& signature, const std::string& name) {
  const std::string text = "|" + signature + "|";
  const size_t at = text.find("|" + name + ":");
  if (at == std::string::npos) return "";
  const size_t begin = at + name.size() + 2;
  return text.substr(begin, text.find('|', begin) - begin);
}

// Measures the lines in the same way as `tessera evaluate`; its signature says how.
std::optional<AdditiveMetric> measured(const std::string& column, const std::string& signature,
                                       const Lines& hypotheses, const Lines& references) {
  const std::vector<Lines> documents{references};
  const bool lowercase = field(signature, "case") == "lc";
  if (column == "exact") return text_metric::exact_match_lines(hypotheses, references);
  if (column == "bleu") {
    const text_metric::BleuOptions options{
        .tokenization = parse_name<text_metric::Tokenization>(field(signature, "tok")),
        .lowercase = lowercase,
        .smoothing = parse_name<text_metric::Smoothing>(field(signature, "smooth"))};
    return additive(text_metric::bleu_statistics(hypotheses, documents, options), options);
  }
  if (column == "chrf" || column == "chrf++") {
    const text_metric::ChrfOptions options{.word_order = column == "chrf" ? 0 : 2,
                                           .lowercase = lowercase};
    return additive(text_metric::chrf_statistics(hypotheses, documents, options), options);
  }
  const auto lines = text_metric::rouge_statistics(hypotheses, documents);
  if (column == "rouge1") return additive(lines, text_metric::kRouge1);
  if (column == "rouge2") return additive(lines, text_metric::kRouge2);
  if (column == "rougeL") return additive(lines, text_metric::kRougeL);
  return std::nullopt;
}

// Adds the lines of a seed to the rows from `first` on. Appends rows that do not exist yet.
void add_at(size_t first, const AdditiveMetric& one, AdditiveMetric& all) {
  all.width = one.width;
  all.score = one.score;
  all.rows.resize(std::max(all.rows.size(), first * one.width + one.rows.size()));
  const auto begin = all.rows.begin() + static_cast<std::ptrdiff_t>(first * one.width);
  std::transform(one.rows.begin(), one.rows.end(), begin, begin, std::plus<>());
}

std::string signature_of(const Evaluated& evaluated, const std::string& column) {
  const Json* metric = metric_of(*evaluated.report, column);
  return metric ? metric->value("signature", "") : "";
}

}  // namespace

const Lines& Contests::references(const Evaluated& evaluated) {
  const std::string split = evaluated.report->value("split", "");
  const std::string key = evaluated.corpus.string() + "\n" + split;
  const auto known = references_.find(key);
  if (known != references_.end()) return known->second;
  return references_[key] = corpus::Corpus::open(evaluated.corpus).split(split).target_lines();
}

std::optional<Contest> Contests::hold(const std::string& column, std::span<const Evaluated> base,
                                      std::span<const Evaluated> row) {
  Contest contest;
  AdditiveMetric theirs, ours;
  // All seeds find the same lines hard, so a line is drawn together with the results of all seeds:
  // as their sum. Recipes that make their own data have other lines for every seed.
  std::map<Lines, size_t> begins;  // of the rows of these references
  for (const Evaluated& system : row) {
    for (const Evaluated& other : base) {
      if (other.seed != system.seed) continue;
      const std::string signature = signature_of(system, column);
      if (signature != signature_of(other, column)) return std::nullopt;
      const Lines our_lines = read_lines(system.hypotheses),
                  their_lines = read_lines(other.hypotheses);
      Lines right = references(system), their_right = references(other);
      if (our_lines.size() != their_lines.size() || our_lines.size() > right.size())
        return std::nullopt;
      right.resize(our_lines.size());
      their_right.resize(our_lines.size());
      if (right != their_right) return std::nullopt;  // sentences of different corpora
      const auto our_metric = measured(column, signature, our_lines, right);
      const auto their_metric = measured(column, signature, their_lines, right);
      if (!our_metric || !their_metric) return std::nullopt;
      const size_t first = begins.try_emplace(std::move(right), ours.lines()).first->second;
      add_at(first, *our_metric, ours);
      add_at(first, *their_metric, theirs);
      contest.seeds.push_back(system.seed);
      contest.signature = signature;
    }
  }
  if (contest.seeds.empty()) return std::nullopt;
  const PairedBootstrap result = text_metric::paired_bootstrap(theirs, ours, options_);
  contest.difference = result.difference;
  contest.p_value = result.p_value;
  contest.lines = ours.lines();
  contest.drawn = options_;
  // Exact match has no signature of its own.
  contest.signature = contest.signature.empty()
                          ? fmt::format("bs:{}|seed:{}", options_.samples, options_.seed)
                          : text_metric::bootstrap_signature(contest.signature, options_);
  return contest;
}

std::optional<Contest> Contests::find(const std::string& column, std::span<const Evaluated> base,
                                      std::span<const Evaluated> row) {
  if (!known_column(column)) return std::nullopt;
  std::string key = column;
  for (const auto& all : {base, row})
    for (const Evaluated& each : all) key += fmt::format("\n{} {}", each.seed, each.key);
  const auto known = known_.find(key);
  if (known != known_.end()) return known->second;
  std::optional<Contest> contest;
  try {
    contest = hold(column, base, row);
  } catch (const Error& error) {
    log::warn("no test against the base row: {}", error.what());
  }
  return known_[key] = contest;
}

}  // namespace tessera::experiment
