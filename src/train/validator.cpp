#include "train/validator.h"

#include "metric/bleu.h"
#include "model/diffusion.h"
#include "model/generator.h"
#include "model/validation_batch.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <chrono>

namespace tessera::train {
namespace {

constexpr size_t kExamples = 3;

// Puts other weights into a model for as long as it lives.
class WeightsInForce {
 public:
  WeightsInForce(model::Seq2Seq& model, const at::Tensor& weights)
      : model_(model), kept_(model.parameters().values().clone()) {
    put(weights);
  }
  ~WeightsInForce() { put(kept_); }

 private:
  void put(const at::Tensor& weights) {
    const c10::NoGradGuard no_grad;
    model_.parameters().values().copy_(weights);
    model_.refresh();
  }

  model::Seq2Seq& model_;
  at::Tensor kept_;
};

text::BatcherOptions in_order(text::BatcherOptions options) {
  options.shuffle = false;
  return options;
}

}  // namespace

Validator::Validator(model::Seq2Seq& model, const text::Corpus& corpus, const std::string& split,
                     const text::BatcherOptions& batches,
                     const model::GenerationOptions& generation, int64_t sentences, uint64_t seed)
    : model_(model),
      corpus_(corpus),
      split_(corpus.split(split)),
      batcher_(split_, in_order(batches), seed),
      generation_(generation),
      sentences_(std::min(sentences, split_.size())),
      seed_(seed) {}

Validation Validator::measure(const at::Tensor& weights) {
  const c10::NoGradGuard no_grad;
  const WeightsInForce in_force(model_, weights);
  Validation validation;
  measure_loss(validation);
  if (sentences_ > 0) measure_generation(validation);
  return validation;
}

void Validator::measure_loss(Validation& validation) {
  const auto names = model_.measures();
  // Loss, what the model measures, tokens.
  at::Tensor sums = at::zeros({static_cast<int64_t>(names.size()) + 2},
                              at::TensorOptions().dtype(at::kDouble).device(model_.device()));
  std::optional<model::BoundaryCounter> boundary;
  if (const auto* diffusion = dynamic_cast<const model::Diffusion*>(&model_))
    boundary.emplace(*diffusion);
  for (int64_t i = 0; i < batcher_.batches(0); ++i) {
    const auto [ids, draws] = model::ValidationBatch(model_, batcher_.batch(0, i), i, seed_);
    const model::Seq2SeqLoss loss =
        model_.loss(ids, draws, /*self_condition=*/false, nn::Mode::inference);
    if (boundary) boundary->add(ids.target, draws.eps);
    const at::Tensor tokens = ids.target.ne(text::Dictionary::kPad).sum().to(at::kDouble);
    sums +=
        at::cat({loss.total.view({1}), loss.measures, at::ones_like(loss.measures.slice(0, 0, 1))})
            .to(at::kDouble) *
        tokens;
  }
  const at::Tensor host = sums.cpu();
  const double* sum = host.const_data_ptr<double>();
  const double tokens = std::max(sum[names.size() + 1], 1.0);
  validation.loss = sum[0] / tokens;
  for (size_t k = 0; k < names.size(); ++k)
    validation.parts.emplace_back(names[k], sum[k + 1] / tokens);
  if (boundary) validation.boundary = boundary->result();
}

void Validator::measure_generation(Validation& validation) {
  const text::Tokenizer& tokenizer = corpus_.tokenizer();
  std::vector<std::vector<text::Id>> sources;
  for (int64_t i = 0; i < sentences_; ++i) {
    const auto source = split_.source(i);
    sources.emplace_back(source.begin(), source.end());
  }
  const model::Generator generator(model_, generation_);
  const auto begin = std::chrono::steady_clock::now();
  const auto generated = generator.generate(sources);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  validation.per_second = static_cast<double>(sentences_) / seconds.count();

  std::vector<std::string> lines, references = split_.target_lines();
  references.resize(static_cast<size_t>(sentences_));
  for (const auto& sentence : generated) lines.push_back(tokenizer.decode(sentence.ids()));
  size_t equal = 0;
  for (size_t i = 0; i < lines.size(); ++i) equal += lines[i] == references[i];
  validation.exact_match = 100.0 * static_cast<double>(equal) / static_cast<double>(lines.size());

  metric::BleuOptions options;
  options.tokenization = metric::usual_tokenization(tokenizer.raw());
  const metric::BleuScore bleu = metric::corpus_bleu(lines, {{references}}, options);
  validation.bleu = bleu.score;
  validation.bleu_line = metric::bleu_line(bleu, metric::bleu_signature(options));
  for (size_t i = 0; i < std::min(kExamples, lines.size()); ++i)
    validation.examples.push_back({tokenizer.decode(sources[i]), lines[i], references[i]});
}

}  // namespace tessera::train
