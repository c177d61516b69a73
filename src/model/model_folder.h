#pragma once

#include "model/autoregressive.h"
#include "model/generation_options.h"
#include "model/seq2seq.h"
#include "text/tokenizer.h"

#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace tessera::model {

// What README.md in a model folder says beside the options. No times or paths: equal runs write
// equal bytes.
struct ModelCard {
  std::string title = "A model of tessera";
  std::string description = {};  // a sentence or two: what it does
  std::string data = {};         // what it was trained on, with its fingerprint
  std::vector<std::pair<std::string, std::string>> facts = {};  // ("updates", "6500"), ...
};

// A model, ready to generate.
struct LoadedModel {
  std::unique_ptr<Seq2Seq> model;
  text::Tokenizer tokenizer;
  GenerationOptions generation;  // as it was stored: what the model was measured with
};

// A model folder holds
//   config.json        format, symbols, undecodable symbols, options
//   model.safetensors  the weights, by name
//   tokenizer.json, dict.txt, ...
//   README.md          for people

// Writes these files into a folder, which is made if need be.
//   weights  a buffer like model.parameters().values(): these, or their moving average
void write_model_folder(const std::filesystem::path& folder, const Seq2Seq& model,
                        const at::Tensor& weights, const text::Tokenizer& tokenizer,
                        const GenerationOptions& generation, const ModelCard& card);

// Throws Error for a folder that is missing, broken, of a newer format, or whose parts do not fit
// each other.
LoadedModel load_model_folder(const std::filesystem::path& folder, at::Device device,
                              nn::Precision precision);
LoadedModel load_model_folder(const std::filesystem::path& folder, at::Device device);

// The model as one that writes from left to right. Throws Error where it is of another kind.
const Autoregressive& require_autoregressive(const Seq2Seq& model,
                                             const std::filesystem::path& folder);

// What products are computed in for generation: bfloat16 on CUDA, float32 on the CPU.
nn::Precision generation_precision(at::Device device);

// Whether a folder looks like a model folder.
bool is_model_folder(const std::filesystem::path& folder);

// The model folder to load.
//   run_or_model  a model folder, or the folder of a run: its checkpoints are model folders
//   checkpoint    of a run: "best", "last" or a step; empty: best where there is one, else last
// Throws Error where there is none, UsageError for a checkpoint of a model folder.
std::filesystem::path find_model_folder(const std::filesystem::path& run_or_model,
                                        const std::string& checkpoint = "");

}  // namespace tessera::model
