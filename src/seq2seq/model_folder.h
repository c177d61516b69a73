#pragma once

#include "files/model_files.h"
#include "seq2seq/generation_options.h"
#include "seq2seq/seq2seq.h"
#include "text/tokenizer.h"

#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace tessera::seq2seq {

// A model, ready to generate.
struct LoadedModel {
  std::unique_ptr<Seq2Seq> model;
  text::Tokenizer tokenizer;
  GenerationOptions generation;  // as stored: the model was measured with them
};

// A model folder holds
//   config.json        symbols, undecodable symbols, options
//   model.safetensors  the weights, by name
//   state.safetensors  state besides the weights, by name, if the model has any
//   tokenizer.json, dict.txt, ...
//   README.md          for people

// Writes these files into a folder, which is created if needed.
//   weights  a buffer like model.parameters().values(): these, or their moving average
void write_model_folder(const std::filesystem::path& folder, const Seq2Seq& model,
                        const at::Tensor& weights, const text::Tokenizer& tokenizer,
                        const GenerationOptions& generation, const ModelCard& card);

// Throws Error for a folder that is missing, broken, of a newer format, or whose parts do not fit
// each other, and for a checkpoint whose configuration or dictionary was changed by hand.
LoadedModel load_model_folder(const std::filesystem::path& folder, at::Device device,
                              nn::Precision precision);
LoadedModel load_model_folder(const std::filesystem::path& folder, at::Device device);

// Throws Error if a model is not of the kind that a recipe asks for.
void require_kind(const Seq2Seq& model, ModelKind kind, const std::filesystem::path& folder);

// Throws Error if a model has no probabilities of sentences.
void require_probabilities(const Seq2Seq& model, const std::filesystem::path& folder);

}  // namespace tessera::seq2seq
