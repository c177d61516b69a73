#include <tessera/engine/translator.h>

#include <tessera/engine/engine.h>

namespace tessera {

struct Translator::State {
  Engine engine;
  uint64_t seed;
  GenerateOptions options;

  State(const std::filesystem::path& folder, const TranslatorOptions& given)
      : engine(
            folder,
            {.device = given.device, .precision = given.precision, .checkpoint = given.checkpoint}),
        seed(given.seed),
        options{.steps = given.steps,
                .r = given.r,
                .preset = given.preset,
                .lengths = given.lengths,
                .noises = given.noises,
                .selection = given.selection} {
    engine.in_effect(options);  // throws for options that make no sense
  }

  std::vector<TextResult> run(std::span<const std::string> texts, bool candidate_texts) const {
    std::vector<TextRequest> requests;
    for (const std::string& text : texts)
      requests.push_back(
          {.text = text, .seed = seed, .options = options, .candidate_texts = candidate_texts});
    std::vector<TextResult> results = engine.run(requests);
    for (const TextResult& result : results) result.require_done();
    return results;
  }
};

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
  std::vector<std::string> translations;
  for (TextResult& result : state_->run(texts, /*candidate_texts=*/false))
    translations.push_back(std::move(result.text));
  return translations;
}

std::vector<Translation> Translator::translate_with_scores(
    std::span<const std::string> texts) const {
  std::vector<Translation> translations;
  for (TextResult& result : state_->run(texts, /*candidate_texts=*/true)) {
    Translation& translation = translations.emplace_back();
    if (result.nfe == 0) continue;  // the text was empty
    for (TextResult::Candidate& candidate : result.candidates)
      translation.candidates.push_back(
          {std::move(candidate.text), candidate.confidence, candidate.expected_bleu});
    translation.chosen = result.chosen;
    translation.text = std::move(result.text);
  }
  return translations;
}

}  // namespace tessera
