#include "task/text_task.h"

#include "base/log.h"
#include "base/numerals.h"
#include "base/require.h"
#include "seq2seq/model_folder.h"
#include "tensor/machine_memory.h"

#include <fmt/format.h>

#include <algorithm>

namespace tessera::task {
namespace {

using Json = nlohmann::ordered_json;

std::unique_ptr<seq2seq::Seq2Seq> new_model(const TextOptions& options,
                                            const corpus::Corpus& corpus, uint64_t seed,
                                            at::Device device) {
  return seq2seq::make_seq2seq(options.model, corpus.tokenizer().dictionary().size(),
                               corpus.unused_in_targets(), device, nn::usual_precision(device),
                               seed);
}

// The split used for validation.
std::string validation_split(const corpus::Corpus& corpus) {
  try {
    corpus.split("valid");
  } catch (const Error& error) {
    throw Error(error.what(),
                "a run validates on it: make the corpus with `tessera prepare --valid`");
  }
  return "valid";
}

// Sentences the model has no positions for are left out, whatever the recipe says.
corpus::BatcherOptions batches_of(const TextOptions& options) {
  corpus::BatcherOptions batches = options.data.batches;
  batches.max_length = std::min(batches.max_length, options.model.network.positions);
  return batches;
}

// The least memory of an update, in bytes: the states of all layers, kept for the gradient.
double least_memory(const nn::TransformerOptions& network, const corpus::BatchShape& shape) {
  const auto tokens = static_cast<double>(shape.rows) *
                      (static_cast<double>(shape.source) + static_cast<double>(shape.target));
  // Queries, keys, values and the output of attention; the hidden layer.
  const auto kept = static_cast<double>(4 * network.width + network.feedforward);
  return sizeof(float) * tokens * kept * static_cast<double>(network.layers);
}

double score_of(const Measurement& found, TextScore score) {
  switch (score) {
    case TextScore::bleu:
      return found.bleu.value();
    case TextScore::exact_match:
      return found.exact_match.value();
    case TextScore::loss:
      break;
  }
  return -found.loss;
}

Json line_of(const Measurement& found) {
  Json line{{"valid_loss", found.loss}};
  for (const auto& [name, value] : found.parts) line["valid_" + name] = value;
  if (found.boundary) {
    line["valid_outside"] = found.boundary->outside;  // whatever r is
    line["valid_exit_histogram"] = found.boundary->histogram;
  }
  if (!found.bleu) return line;
  line["valid_bleu"] = *found.bleu;
  line["valid_bleu_signature"] = found.bleu_signature;
  line["valid_length_ratio"] = found.length_ratio;
  line["valid_exact_match"] = *found.exact_match;
  line["valid_sentences_per_second"] = found.per_second;
  for (const Measurement::Example& example : found.examples)
    line["valid_examples"].push_back({{"source", example.source},
                                      {"generated", example.generated},
                                      {"reference", example.reference}});
  return line;
}

void log_loss(const Measurement& found, int64_t step) {
  std::vector<std::string> fields{fmt::format("step {}", step),
                                  fmt::format("validation loss {:.4f}", found.loss)};
  for (const auto& [name, value] : found.parts)
    fields.push_back(fmt::format("{} {:.4f}", name, value));
  log::fields(std::move(fields));
}

void log_generation(const Measurement& found, int64_t step) {
  log::fields({fmt::format("step {}", step), fmt::format("BLEU {:.2f}", *found.bleu),
               fmt::format("length ratio {:.3f}", found.length_ratio),
               fmt::format("exact match {:.1f} %", *found.exact_match),
               fmt::format("{:.0f} sentences/s", found.per_second)});
  constexpr size_t kShown = 3;  // the report shows all
  for (size_t k = 0; k < std::min(kShown, found.examples.size()); ++k) {
    const Measurement::Example& example = found.examples[k];
    log::info("  {}\n    ours  {}\n    ref.  {}", example.source, example.generated,
              example.reference);
  }
}

}  // namespace

TextTask::TextTask(const TextOptions& options, corpus::Corpus corpus, uint64_t seed,
                   at::Device device, ranks::Group& group)
    : options_(options),
      corpus_(std::move(corpus)),
      seed_(seed),
      model_(new_model(options, corpus_, seed, device)),
      batcher_(corpus_.split("train"), batches_of(options), seed),
      validator_(*model_, corpus_, validation_split(corpus_), batches_of(options), options.generate,
                 options.validate_sentences, seed, group) {
  if (!device.is_cpu()) return;  // on a GPU, allocating fails with an error
  for (const corpus::BatchShape& shape : batcher_.shapes())
    require_memory(least_memory(options.model.network.transformer, shape),
                   fmt::format("batches of size {}", shape.rows), memory_hint());
}

nn::Inputs TextTask::batch(int64_t epoch, int64_t number) const {
  return seq2seq::Seq2SeqBatch::of(batcher_.batch(epoch, number)).inputs();
}

train::Validation TextTask::validate(const at::Tensor& weights, int64_t step,
                                     const std::function<void()>& pause) {
  const Measurement found = validator_.measure(weights, pause);
  log_loss(found, step);
  if (found.bleu) log_generation(found, step);
  return {score_of(found, score()), line_of(found)};
}

TextScore TextTask::score() const {
  const bool generates = options_.validate_sentences > 0 && corpus_.split("valid").size() > 0;
  return generates ? options_.score : TextScore::loss;
}

std::string TextTask::score_text(double score) const {
  switch (this->score()) {
    case TextScore::bleu:
      return fmt::format("BLEU {:.2f}", score);
    case TextScore::exact_match:
      return fmt::format("exact match {:.1f} %", score);
    case TextScore::loss:
      break;
  }
  return fmt::format("validation loss {:.4f}", -score);
}

safetensors::File TextTask::weights_of(const std::filesystem::path& run_or_model) const {
  const std::filesystem::path folder = find_model_folder(run_or_model);
  require_exact_weights(folder, "train.init");
  const seq2seq::LoadedModel given =
      seq2seq::load_model_folder(folder, at::kCPU, nn::Precision::float32);
  if (const auto difference =
          corpus_.tokenizer().dictionary().difference(given.tokenizer.dictionary()))
    throw Error(fmt::format("the model in '{}' does not fit the corpus in '{}': {}",
                            folder.string(), corpus_.folder().string(), *difference),
                "prepare the data with the dictionary of the model (`tessera prepare --dict`)");
  seq2seq::require_kind(*given.model, options_.model.kind, folder);
  return safetensors::File(folder / "model.safetensors");
}

void TextTask::write_model(const std::filesystem::path& folder, const at::Tensor& weights,
                           int64_t step) const {
  const ModelCard card{
      .title = "A sequence-to-sequence model of tessera",
      .description = "Source sentences to target sentences.",
      .data = fmt::format("a prepared corpus of fingerprint {}", corpus_.fingerprint()),
      .facts = {{"updates", fmt::format("{}", step)},
                {"tokens a batch", fmt::format("{}", options_.data.batches.tokens)},
                {"seed", fmt::format("{}", seed_)}},
      .languages = corpus_.manifest().languages};
  seq2seq::write_model_folder(folder, *model_, weights, corpus_.tokenizer(), options_.generate,
                              card);
}

std::string TextTask::memory_hint() const {
  return fmt::format("lower data.tokens (now {}) and raise train.accumulate by the same factor",
                     options_.data.batches.tokens);
}

std::vector<train::Fact> TextTask::facts() const {
  const auto symbols = corpus_.tokenizer().dictionary().size();
  Json shapes = Json::array();
  std::string text = fmt::format("{} in {}", counted(batcher_.batches(0), "batch", "batches"),
                                 counted(std::ssize(batcher_.shapes()), "shape"));
  for (const auto& shape : batcher_.shapes()) {
    shapes.push_back({shape.rows, shape.source, shape.target});
    text += fmt::format("\n{} x {} source, {} target", counted(shape.rows, "sentence"),
                        shape.source, shape.target);
  }
  return {{"symbols", symbols, "symbols", fmt::format("{}", symbols)},
          {"pairs", corpus_.split("train").size(), "pairs",
           fmt::format("{}", corpus_.split("train").size())},
          {"batches_per_epoch", batcher_.batches(0), "epoch", text},
          {"shapes", shapes, "", ""}};
}

std::vector<std::string> TextTask::next_commands(const std::filesystem::path& run) const {
  return {fmt::format("tessera evaluate {} --split {}", run.string(),
                      corpus_.has("test") ? "test" : "valid"),
          fmt::format("tessera generate {} < FILE", run.string())};
}

}  // namespace tessera::task
