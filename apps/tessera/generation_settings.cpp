#include "generation_settings.h"

#include "engine/text_engine.h"

namespace tessera::app {

void add_generation_options(CLI::App& command, GenerationSettings& settings) {
  add_model_option(command, settings);
  add_loading_options(command, settings);
  engine::visit_sampler(settings.options, FlagAdder(command));
  engine::visit_generation(settings.options, FlagAdder(command));
}

GenerateOptions GenerationSettings::changes() const {
  GenerateOptions changes = options;
  if (wants_reference_lengths()) changes.length.reset();
  return changes;
}

void check_flags(const Engine& engine, const GenerateOptions& changes) {
  engine.text().in_effect(changes, engine::Spelling::flag);
}

std::vector<TextRequest> requests_for(const std::vector<std::string>& lines, int64_t first_line,
                                      const GenerateOptions& changes, uint64_t seed) {
  std::vector<TextRequest> requests;
  for (const std::string& line : lines)
    requests.push_back({.text = line,
                        .seed = seed,
                        .options = changes,
                        .line = first_line + static_cast<int64_t>(requests.size()),
                        .candidate_texts = false});
  return requests;
}

}  // namespace tessera::app
