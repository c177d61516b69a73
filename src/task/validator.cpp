#include "task/validator.h"

#include "metric/bleu.h"
#include "model/diffusion.h"
#include "model/generator.h"
#include "model/validation_batch.h"
#include "task/weights_in_force.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <chrono>

namespace tessera::task {
namespace {

constexpr size_t kExamples = 3;

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

Measurement Validator::measure(const at::Tensor& weights) {
  const c10::NoGradGuard no_grad;
  const WeightsInForce in_force(model_, weights);
  Measurement found;
  measure_loss(found);
  if (sentences_ > 0) measure_generation(found);
  return found;
}

void Validator::measure_loss(Measurement& found) {
  const auto names = model_.measures();
  // Loss, what the model measures, tokens.
  at::Tensor sums = at::zeros({static_cast<int64_t>(names.size()) + 2},
                              at::TensorOptions().dtype(at::kDouble).device(model_.device()));
  std::optional<BoundaryCounter> boundary;
  if (const auto* diffusion = dynamic_cast<const model::Diffusion*>(&model_))
    boundary.emplace(diffusion->process(), diffusion->codebook(), diffusion->undecodable());
  for (int64_t i = 0; i < batcher_.batches(0); ++i) {
    const auto [ids, draws] = model::ValidationBatch(model_, batcher_.batch(0, i), i, seed_);
    const nn::TrainingLoss loss =
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
  found.loss = sum[0] / tokens;
  for (size_t k = 0; k < names.size(); ++k) found.parts.emplace_back(names[k], sum[k + 1] / tokens);
  if (boundary) found.boundary = boundary->result();
}

void Validator::measure_generation(Measurement& found) {
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
  found.per_second = static_cast<double>(sentences_) / seconds.count();

  std::vector<std::string> lines, references = split_.target_lines();
  references.resize(static_cast<size_t>(sentences_));
  for (const auto& sentence : generated) lines.push_back(tokenizer.decode(sentence.ids()));
  size_t equal = 0;
  for (size_t i = 0; i < lines.size(); ++i) equal += lines[i] == references[i];
  found.exact_match = 100.0 * static_cast<double>(equal) / static_cast<double>(lines.size());

  metric::BleuOptions options;
  options.tokenization = metric::usual_tokenization(tokenizer.raw());
  const metric::BleuScore bleu = metric::corpus_bleu(lines, {{references}}, options);
  found.bleu = bleu.score;
  found.bleu_line = metric::bleu_line(bleu, metric::bleu_signature(options));
  for (size_t i = 0; i < std::min(kExamples, lines.size()); ++i)
    found.examples.push_back({tokenizer.decode(sources[i]), lines[i], references[i]});
}

}  // namespace tessera::task
