#include "task/validator.h"

#include "base/log.h"
#include "evaluation/validation_batch.h"
#include "seq2seq/diffusion.h"
#include "seq2seq/generator.h"
#include "task/loss_meter.h"
#include "task/temporary_weights.h"
#include "text_metric/bleu.h"
#include "text_metric/exact_match.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>

namespace tessera::task {
namespace {

constexpr size_t kExamples = 8;

corpus::BatcherOptions in_order(corpus::BatcherOptions options) {
  options.shuffle = false;
  return options;
}

}  // namespace

Validator::Validator(seq2seq::Seq2Seq& model, const corpus::Corpus& corpus,
                     const std::string& split, const corpus::BatcherOptions& batches,
                     const seq2seq::GenerationOptions& generation, int64_t sentences, uint64_t seed,
                     ranks::Group& group)
    : model_(model),
      group_(group),
      corpus_(corpus),
      split_(corpus.split(split)),
      batcher_(split_, in_order(batches), seed),
      generation_(generation),
      sentences_(std::min(sentences, split_.size())),
      seed_(seed) {
  // Reports errors in the options of generation before the training.
  if (sentences_ > 0) {
    const seq2seq::Generator checked(model_, generation_);
  }
}

Measurement Validator::measure(const at::Tensor& weights, const std::function<void()>& pause) {
  const c10::NoGradGuard no_grad;
  std::optional<TemporaryWeights> in_force;
  ranks::together(group_, [&] { in_force.emplace(model_, weights); });
  Measurement found;
  measure_loss(found, pause);
  if (sentences_ > 0) measure_generation(found, pause);
  return found;
}

void Validator::measure_loss(Measurement& found, const std::function<void()>& pause) {
  LossMeter meter(model_);
  std::optional<BoundaryCounter> boundary;
  const Process* const process = model_.family() ? model_.family()->process() : nullptr;
  if (process != nullptr) boundary.emplace(*process, model_.codebook(), model_.undecodable());
  const auto add = [&](int64_t i) {
    pause();
    const seq2seq::Seq2SeqBatch batch = evaluation::validation_batch(model_, batcher_.batch(0, i));
    const TrainingStreams streams = evaluation::validation_streams(seed_, i);
    const at::Tensor& target = batch.target;
    const Draws draws = model_.draw(streams, target.size(0), target.size(1));
    meter.add(model_.loss(batch, draws, /*variant=*/0, nn::Mode::inference));
    if (!boundary) return;
    const at::Tensor samples = at::arange(target.size(0), target.options());
    boundary->add(target, process->draw_noise(streams.noise, samples,
                                              {target.size(1), model_.codebook().dim()}));
  };
  ranks::together(group_, [&] {
    for (int64_t i = group_.rank(); i < batcher_.batches(0); i += group_.size()) add(i);
  });
  meter.share(group_);
  if (boundary) boundary->share([&](const at::Tensor& values) { group_.sum(values); });
  const LossMeter::Means means = meter.means();
  found.loss = means.loss;
  found.parts = means.parts;
  if (boundary) found.boundary = boundary->result();
  warn_of_short_estimates(found);
}

// A path that is built from such short estimates carries too little of the symbols.
void Validator::warn_of_short_estimates(const Measurement& found) {
  constexpr double kShort = 0.5;
  if (warned_ || generation_.sampler.estimate != Estimate::raw) return;
  for (const auto& [name, value] : found.parts) {
    if (name != "reach" || value >= kShort) continue;
    warned_ = true;
    log::warn(
        "estimates have only {:.2f} of a code's length, which harms sampling:\n"
        "    objective.logit_scale = {:.3g} (1 / sqrt(model.latent)) trains longer ones,\n"
        "    sampler.estimate = \"mean\" puts others in their place",
        value, 1 / std::sqrt(static_cast<double>(model_.options().network.latent)));
  }
}

std::vector<std::string> Validator::generated_lines(const std::function<void()>& pause) {
  std::vector<int64_t> own;  // of this process
  for (int64_t i = group_.rank(); i < sentences_; i += group_.size()) own.push_back(i);
  nlohmann::json made = nlohmann::json::array();
  ranks::together(group_, [&] {
    std::vector<std::vector<text::Id>> sources;
    for (const int64_t i : own) {
      const auto source = split_.source(i);
      sources.emplace_back(source.begin(), source.end());
    }
    const seq2seq::Generator generator(model_, generation_);
    for (const auto& sentence : generator.generate(sources, {.lines = own, .pause = pause}))
      made.push_back(corpus_.tokenizer().decode(sentence.ids()));
  });
  std::vector<std::string> lines(static_cast<size_t>(sentences_));
  size_t rank = 0;
  for (const std::string& text : group_.gather(made.dump())) {
    size_t place = rank++;
    for (const nlohmann::json& line : nlohmann::json::parse(text)) {
      lines[place] = line.get<std::string>();
      place += static_cast<size_t>(group_.size());
    }
  }
  return lines;
}

void Validator::measure_generation(Measurement& found, const std::function<void()>& pause) {
  const text::Tokenizer& tokenizer = corpus_.tokenizer();
  const auto begin = std::chrono::steady_clock::now();
  const std::vector<std::string> lines = generated_lines(pause);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  found.per_second = static_cast<double>(sentences_) / seconds.count();

  std::vector<std::string> references = split_.target_lines();
  references.resize(static_cast<size_t>(sentences_));
  found.exact_match = text_metric::exact_match(lines, references);

  text_metric::BleuOptions options;
  options.tokenization = text_metric::usual_tokenization(tokenizer.raw());
  const text_metric::BleuScore bleu = text_metric::corpus_bleu(lines, {{references}}, options);
  found.bleu = bleu.score;
  found.length_ratio = bleu.ratio;
  found.bleu_signature = text_metric::bleu_signature(options);
  for (size_t i = 0; i < std::min(kExamples, lines.size()); ++i)
    found.examples.push_back(
        {tokenizer.decode(split_.source(static_cast<int64_t>(i))), lines[i], references[i]});
}

}  // namespace tessera::task
