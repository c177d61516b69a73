#include <tessera/evaluation/text_scores.h>

#include "base/require.h"
#include "evaluation/score_settings.h"
#include "text_metric/chrf.h"
#include "text_metric/rouge.h"

namespace tessera {
namespace {

using evaluation::Metric;
using evaluation::ScoreSettings;

struct Texts {
  std::span<const std::string> hypotheses;
  std::span<const std::vector<std::string>> references;
};

// A score, and what resampling needs for it.
struct Measured {
  TextScore score;
  text_metric::AdditiveMetric lines;
};

std::vector<Measured> measure_bleu(const Texts& texts, const text_metric::BleuOptions& options) {
  text_metric::BleuOptions of_sentences = options;
  of_sentences.effective_order = true;
  const auto lines = text_metric::bleu_statistics(texts.hypotheses, texts.references, options);
  text_metric::BleuStatistics sum;
  TextScore result;
  for (const auto& line : lines) {
    sum += line;
    result.sentences.push_back(text_metric::bleu_of(line, of_sentences).score);
  }
  const text_metric::BleuScore bleu = text_metric::bleu_of(sum, options);
  result.name = "BLEU";
  result.signature = text_metric::bleu_signature(options, texts.references.size());
  result.sentence_signature = text_metric::bleu_signature(of_sentences, texts.references.size());
  result.score = bleu.score;
  result.line = text_metric::bleu_line(bleu, result.signature);
  result.parts = BleuParts{bleu.precisions, bleu.cumulative, bleu.brevity_penalty, bleu.ratio,
                           sum.hyp_len,     sum.ref_len,     sum.matches,          sum.totals};
  return {{std::move(result), text_metric::additive(lines, options)}};
}

std::vector<Measured> measure_chrf(const Texts& texts, bool lowercase, int word_order) {
  const text_metric::ChrfOptions options{.word_order = word_order, .lowercase = lowercase};
  const auto lines = text_metric::chrf_statistics(texts.hypotheses, texts.references, options);
  text_metric::ChrfStatistics sum;
  TextScore result;
  for (const auto& line : lines) {
    sum += line;
    result.sentences.push_back(text_metric::chrf_of(line, options));
  }
  result.name = text_metric::chrf_name(options);
  result.signature = text_metric::chrf_signature(options, texts.references.size());
  result.sentence_signature = result.signature;
  result.score = text_metric::chrf_of(sum, options);
  result.line = text_metric::chrf_line(result.score, options, result.signature);
  result.parts = ChrfParts{options.char_order, options.word_order, options.beta};
  return {{std::move(result), text_metric::additive(lines, options)}};
}

std::vector<Measured> measure_rouge(const Texts& texts) {
  const auto lines = text_metric::rouge_statistics(texts.hypotheses, texts.references);
  text_metric::RougeStatistics sum;
  for (const auto& line : lines) sum += line;
  const text_metric::RougeScore means = text_metric::rouge_of(sum);
  std::vector<Measured> results;
  for (const auto kind : {text_metric::kRouge1, text_metric::kRouge2, text_metric::kRougeL}) {
    TextScore result;
    const text_metric::RougeMeasure& mean = means[kind];
    result.name = text_metric::kRougeNames[kind];
    result.signature = text_metric::rouge_signature(texts.references.size());
    result.sentence_signature = result.signature;
    result.score = mean.f1;
    result.line = text_metric::rouge_line(kind, mean, result.signature);
    result.parts = RougeParts{mean.precision, mean.recall, mean.f1};
    for (const auto& line : lines) result.sentences.push_back(line.sums[kind].f1);
    results.push_back({std::move(result), text_metric::additive(lines, kind)});
  }
  return results;
}

std::vector<Measured> measure_one(Metric metric, const Texts& texts,
                                  const ScoreSettings& settings) {
  switch (metric) {
    case Metric::bleu:
      return measure_bleu(texts, settings.bleu);
    case Metric::chrf:
      return measure_chrf(texts, settings.bleu.lowercase, 0);
    case Metric::chrf_with_words:
      return measure_chrf(texts, settings.bleu.lowercase, 2);
    case Metric::rouge:
      return measure_rouge(texts);
  }
  return {};
}

std::vector<Measured> measure(const Texts& texts, const ScoreSettings& settings) {
  std::vector<Measured> all;
  for (const Metric metric : settings.metrics)
    for (Measured& measured : measure_one(metric, texts, settings))
      all.push_back(std::move(measured));
  return all;
}

}  // namespace

std::vector<TextScore> score_texts(std::span<const std::string> texts,
                                   std::span<const std::vector<std::string>> references,
                                   const TextScoreOptions& options) {
  const ScoreSettings settings(options);
  require(!references.empty(), "there are no references to score texts against");
  for (const std::vector<std::string>& document : references)
    require(document.size() == texts.size(), "there are {} texts and {} references", texts.size(),
            document.size());
  const std::vector<std::string>& other = options.compare_with;
  require(other.empty() || other.size() == texts.size(),
          "there are {} texts, and {} to compare them with", texts.size(), other.size());
  std::vector<Measured> ours = measure({texts, references}, settings);
  if (!other.empty()) {
    const std::vector<Measured> theirs = measure({other, references}, settings);
    for (size_t k = 0; k < ours.size(); ++k)
      ours[k].score.comparison = {
          text_metric::bootstrap_signature(ours[k].score.signature, settings.bootstrap),
          text_metric::paired_bootstrap(theirs[k].lines, ours[k].lines, settings.bootstrap)};
  }
  std::vector<TextScore> scores;
  for (Measured& measured : ours) scores.push_back(std::move(measured.score));
  return scores;
}

}  // namespace tessera
