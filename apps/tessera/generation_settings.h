#pragma once

#include "command.h"
#include "model/generator.h"
#include "model/model_folder.h"
#include "sampler_settings.h"

#include <CLI/CLI.hpp>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace tessera::app {

// What the commands that generate can change about it. What is not given is as the model has it.
struct GenerationSettings : SamplerSettings {
  // Of diffusion.
  std::string preset, candidates, length_choice, length;
  bool merge_repeats = false, keep_repeats = false;
  // Of autoregressive models.
  std::optional<int64_t> beam, top_k;
  std::optional<double> length_penalty, temperature;
  // Of both.
  std::string selection;
  std::optional<int64_t> batch_tokens;

  // The model that chooses (--selection rerank=MODEL); empty: none.
  std::filesystem::path reranker() const;
};

// What --length says where lengths of references are to be used: for commands that have some.
constexpr std::string_view kOracleLength = "oracle";

void add_generation_options(CLI::App& command, GenerationSettings& settings);

// A model that was asked for, ready to generate.
class LoadedGenerator {
 public:
  LoadedGenerator(const GenerationSettings& settings, const GlobalOptions& globals);

  const std::filesystem::path& folder() const { return folder_; }  // of the model
  const model::Seq2Seq& model() const { return *loaded_.model; }
  const text::Tokenizer& tokenizer() const { return loaded_.tokenizer; }
  const model::Generator& generator() const { return *generator_; }
  const model::GenerationOptions& options() const { return generator_->options(); }

  // Whether candidates are the best a search found, in order, and not chosen among.
  bool searches() const;

  // Ids of lines, with end symbols.
  std::vector<std::vector<text::Id>> encode(const std::vector<std::string>& lines) const;

 private:
  std::filesystem::path folder_;
  model::LoadedModel loaded_;
  std::optional<model::Reranker> reranker_;
  std::optional<model::Generator> generator_;
};

}  // namespace tessera::app
