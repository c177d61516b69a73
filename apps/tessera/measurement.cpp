#include "measurement.h"

#include "metric/chrf.h"
#include "metric/rouge.h"

namespace tessera::app {
namespace {

struct Texts {
  std::span<const std::string> hypotheses;
  std::span<const std::vector<std::string>> references;
};

std::vector<Measurement> measure_bleu(const Texts& texts, const MeasureOptions& asked) {
  const metric::BleuOptions options{.tokenization = asked.tokenization,
                                    .lowercase = asked.lowercase,
                                    .smoothing = asked.smoothing};
  metric::BleuOptions of_sentences = options;
  of_sentences.effective_order = true;
  const auto lines = metric::bleu_statistics(texts.hypotheses, texts.references, options);
  metric::BleuStatistics sum;
  Measurement result;
  for (const auto& line : lines) {
    sum += line;
    result.sentences.push_back(metric::bleu_of(line, of_sentences).score);
  }
  const metric::BleuScore bleu = metric::bleu_of(sum, options);
  result.name = "BLEU";
  result.signature = metric::bleu_signature(options, texts.references.size());
  result.sentence_signature = metric::bleu_signature(of_sentences, texts.references.size());
  result.score = bleu.score;
  result.line = metric::bleu_line(bleu, result.signature);
  result.details = {{"precisions", bleu.precisions},
                    {"cumulative", bleu.cumulative},
                    {"brevity_penalty", bleu.brevity_penalty},
                    {"ratio", bleu.ratio},
                    {"hyp_len", sum.hyp_len},
                    {"ref_len", sum.ref_len},
                    {"matches", sum.matches},
                    {"totals", sum.totals}};
  result.lines = metric::additive(lines, options);
  return {std::move(result)};
}

std::vector<Measurement> measure_chrf(const Texts& texts, bool lowercase, int word_order) {
  const metric::ChrfOptions options{.word_order = word_order, .lowercase = lowercase};
  const auto lines = metric::chrf_statistics(texts.hypotheses, texts.references, options);
  metric::ChrfStatistics sum;
  Measurement result;
  for (const auto& line : lines) {
    sum += line;
    result.sentences.push_back(metric::chrf_of(line, options));
  }
  result.name = metric::chrf_name(options);
  result.signature = metric::chrf_signature(options, texts.references.size());
  result.sentence_signature = result.signature;
  result.score = metric::chrf_of(sum, options);
  result.line = metric::chrf_line(result.score, options, result.signature);
  result.details = {{"char_order", options.char_order},
                    {"word_order", options.word_order},
                    {"beta", options.beta}};
  result.lines = metric::additive(lines, options);
  return {std::move(result)};
}

std::vector<Measurement> measure_rouge(const Texts& texts) {
  const auto lines = metric::rouge_statistics(texts.hypotheses, texts.references);
  metric::RougeStatistics sum;
  for (const auto& line : lines) sum += line;
  const metric::RougeScore means = metric::rouge_of(sum);
  std::vector<Measurement> results;
  for (const auto kind : {metric::kRouge1, metric::kRouge2, metric::kRougeL}) {
    Measurement& result = results.emplace_back();
    result.name = metric::kRougeNames[kind];
    result.signature = metric::rouge_signature(texts.references.size());
    result.sentence_signature = result.signature;
    result.score = means[kind].f1;
    result.line = metric::rouge_line(kind, means[kind], result.signature);
    result.details = {{"precision", means[kind].precision},
                      {"recall", means[kind].recall},
                      {"f1", means[kind].f1}};
    for (const auto& line : lines) result.sentences.push_back(line.sums[kind].f1);
    result.lines = metric::additive(lines, kind);
  }
  return results;
}

std::vector<Measurement> measure_one(Metric metric, const Texts& texts,
                                     const MeasureOptions& options) {
  switch (metric) {
    case Metric::bleu:
      return measure_bleu(texts, options);
    case Metric::chrf:
      return measure_chrf(texts, options.lowercase, 0);
    case Metric::chrf_with_words:
      return measure_chrf(texts, options.lowercase, 2);
    case Metric::rouge:
      return measure_rouge(texts);
  }
  return {};
}

}  // namespace

std::vector<Measurement> measure(std::span<const std::string> hypotheses,
                                 std::span<const std::vector<std::string>> references,
                                 const MeasureOptions& options) {
  std::vector<Measurement> all;
  for (const Metric metric : options.metrics)
    for (auto& measurement : measure_one(metric, {hypotheses, references}, options))
      all.push_back(std::move(measurement));
  return all;
}

}  // namespace tessera::app
