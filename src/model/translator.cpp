#include <tessera/model/translator.h>

#include "base/device.h"
#include "base/require.h"
#include "model/fitting_options.h"
#include "model/generator.h"
#include "model/model_folder.h"
#include "process/changed_sampler.h"
#include "text/utf8.h"

namespace tessera {
namespace {

model::GenerationOptions with_changes(model::GenerationOptions generation,
                                      const TranslatorOptions& options) {
  if (options.preset) use_preset(generation, parse_name<model::Preset>(*options.preset));
  generation.sampler = changed_sampler(generation.sampler, options.steps, options.r, options.seed);
  generation.lengths = options.lengths.value_or(generation.lengths);
  generation.noises = options.noises.value_or(generation.noises);
  if (options.selection) generation.selection = parse_name<model::Selection>(*options.selection);
  return generation;
}

// The options of generation in force. Throws UsageError for what makes no sense with the model.
model::GenerationOptions fitting(const model::LoadedModel& loaded,
                                 const TranslatorOptions& options) {
  const auto generation = with_changes(loaded.generation, options);
  const model::GivenOption given[] = {
      {"preset", options.preset.has_value()}, {"steps", options.steps.has_value()},
      {"r", options.r.has_value()},           {"lengths", options.lengths.has_value()},
      {"noises", options.noises.has_value()}, {"selection", options.selection.has_value()}};
  model::require_fitting_options(*loaded.model, generation, given);
  return generation;
}

model::LoadedModel load(const std::filesystem::path& folder, const TranslatorOptions& options,
                        at::Device device) {
  return model::load_model_folder(find_model_folder(folder, options.checkpoint), device,
                                  nn::parse_precision(options.precision, device));
}

}  // namespace

struct Translator::State {
  model::LoadedModel loaded;
  model::Generator generator;

  State(const std::filesystem::path& folder, const TranslatorOptions& options)
      : loaded(load(folder, options, parse_device(options.device))),
        generator(*loaded.model, fitting(loaded, options)) {}

  std::vector<model::Generated> generate(std::span<const std::string> texts) const;
};

std::vector<model::Generated> Translator::State::generate(
    std::span<const std::string> texts) const {
  std::vector<std::vector<text::Id>> sources;
  for (size_t k = 0; k < texts.size(); ++k) {
    const size_t invalid = text::find_invalid_utf8(texts[k]);
    require(invalid == std::string::npos, "text {} is not UTF-8: byte {} (counted from 0)", k,
            invalid);
    sources.push_back(loaded.tokenizer.encode(texts[k]));
    sources.back().push_back(text::Dictionary::kEos);
  }
  return generator.generate(sources);
}

Translator::Translator(const std::filesystem::path& folder, const TranslatorOptions& options)
    : state_(std::make_unique<const State>(folder, options)) {}
Translator::~Translator() = default;
Translator::Translator(Translator&&) noexcept = default;
Translator& Translator::operator=(Translator&&) noexcept = default;

std::string Translator::translate(std::string_view text) const {
  const std::string one(text);
  return translate(std::span(&one, 1)).front();
}

std::vector<std::string> Translator::translate(std::span<const std::string> texts) const {
  std::vector<std::string> result;
  for (const model::Generated& generated : state_->generate(texts))
    result.push_back(state_->loaded.tokenizer.decode(generated.ids()));
  return result;
}

std::vector<Translation> Translator::translate_with_scores(
    std::span<const std::string> texts) const {
  std::vector<Translation> result;
  for (const model::Generated& generated : state_->generate(texts)) {
    Translation& translation = result.emplace_back();
    if (generated.nfe == 0) continue;  // the text was empty
    for (const model::Candidate& candidate : generated.candidates)
      translation.candidates.push_back({state_->loaded.tokenizer.decode(candidate.ids),
                                        candidate.confidence, candidate.expected_bleu});
    translation.chosen = generated.chosen;
    translation.text = translation.candidates[generated.chosen].text;
  }
  return result;
}

}  // namespace tessera
