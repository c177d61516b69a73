#include "measurement.h"

#include "text_metric/chrf.h"
#include "text_metric/rouge.h"

namespace tessera::app {
namespace {

struct Texts {
  std::span<const std::string> hypotheses;
  std::span<const std::vector<std::string>> references;
};

std::vector<Measurement> measure_bleu(const Texts& texts, const MeasureOptions& asked) {
  const text_metric::BleuOptions options{.tokenization = asked.tokenization,
                                         .lowercase = asked.lowercase,
                                         .smoothing = asked.smoothing};
  text_metric::BleuOptions of_sentences = options;
  of_sentences.effective_order = true;
  const auto lines = text_metric::bleu_statistics(texts.hypotheses, texts.references, options);
  text_metric::BleuStatistics sum;
  Measurement result;
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
  result.details = {{"precisions", bleu.precisions},
                    {"cumulative", bleu.cumulative},
                    {"brevity_penalty", bleu.brevity_penalty},
                    {"ratio", bleu.ratio},
                    {"hyp_len", sum.hyp_len},
                    {"ref_len", sum.ref_len},
                    {"matches", sum.matches},
                    {"totals", sum.totals}};
  result.lines = text_metric::additive(lines, options);
  return {std::move(result)};
}

std::vector<Measurement> measure_chrf(const Texts& texts, bool lowercase, int word_order) {
  const text_metric::ChrfOptions options{.word_order = word_order, .lowercase = lowercase};
  const auto lines = text_metric::chrf_statistics(texts.hypotheses, texts.references, options);
  text_metric::ChrfStatistics sum;
  Measurement result;
  for (const auto& line : lines) {
    sum += line;
    result.sentences.push_back(text_metric::chrf_of(line, options));
  }
  result.name = text_metric::chrf_name(options);
  result.signature = text_metric::chrf_signature(options, texts.references.size());
  result.sentence_signature = result.signature;
  result.score = text_metric::chrf_of(sum, options);
  result.line = text_metric::chrf_line(result.score, options, result.signature);
  result.details = {{"char_order", options.char_order},
                    {"word_order", options.word_order},
                    {"beta", options.beta}};
  result.lines = text_metric::additive(lines, options);
  return {std::move(result)};
}

std::vector<Measurement> measure_rouge(const Texts& texts) {
  const auto lines = text_metric::rouge_statistics(texts.hypotheses, texts.references);
  text_metric::RougeStatistics sum;
  for (const auto& line : lines) sum += line;
  const text_metric::RougeScore means = text_metric::rouge_of(sum);
  std::vector<Measurement> results;
  for (const auto kind : {text_metric::kRouge1, text_metric::kRouge2, text_metric::kRougeL}) {
    Measurement& result = results.emplace_back();
    result.name = text_metric::kRougeNames[kind];
    result.signature = text_metric::rouge_signature(texts.references.size());
    result.sentence_signature = result.signature;
    result.score = means[kind].f1;
    result.line = text_metric::rouge_line(kind, means[kind], result.signature);
    result.details = {{"precision", means[kind].precision},
                      {"recall", means[kind].recall},
                      {"f1", means[kind].f1}};
    for (const auto& line : lines) result.sentences.push_back(line.sums[kind].f1);
    result.lines = text_metric::additive(lines, kind);
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
