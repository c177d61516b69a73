#pragma once

#include "nn/parameters.h"

#include <tessera/base/languages.h>
#include <tessera/process/process.h>
#include <tessera/symbols/symbol_family.h>

#include <nlohmann/json.hpp>

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <filesystem>
#include <string>

// What `tessera inspect` finds, as JSON, and as text for people. Everything that is missing or
// broken is an Error.
namespace tessera::app {

using Report = nlohmann::ordered_json;

// What to look at in a run or a model, besides its files.
struct ModelInspection {
  std::filesystem::path folder;  // of a run or a model
  std::string checkpoint;        // as find_model_folder() takes it
  std::filesystem::path data;    // corpus to measure on; empty: that of the run, if it is there
  std::string split = "valid";
  bool split_named = false;  // by the user: it must exist
  int64_t sentences = 1000;  // of the split, at most; 0: all
  bool all_options = false;  // also those that have their defaults
  at::Device device = at::kCPU;
  uint64_t seed = 1;
};

Report inspect_model(const ModelInspection& inspection);
std::string model_text(const Report& report);

// The loaded model of a folder that holds one of images, and all weights by part.
Report inspect_image_model(const std::filesystem::path& folder, const ModelInspection& inspection);
// Likewise of an autoencoder of images.
Report inspect_autoencoder(const std::filesystem::path& folder, const ModelInspection& inspection);
Report parameters_report(const nn::Parameters& parameters);

// Null if they are unknown.
Report languages_report(const Languages& languages);
std::string languages_text(const Report& languages);  // ", from de to en", or nothing

// What noise does to some labels [N], by time; null if none of them can be decoded.
Report noise_report(const SymbolFamily& family, const at::Tensor& labels);
std::string noise_text(const Report& noise);

// The schedule that training has made for every position; null where there is none.
Report schedule_report(const Process& process);
std::string schedule_text(const Report& schedule);

// "  on 21 tokens: ...": what statistics were measured on, a line.
std::string measured_on(const Report& statistics);

// A data set of images.
Report inspect_dataset(const std::filesystem::path& folder);
std::string dataset_text(const Report& report);

Report inspect_corpus(const std::filesystem::path& folder);
std::string corpus_text(const Report& report);

Report inspect_tensors(const std::filesystem::path& file);  // safetensors
std::string tensors_text(const Report& report);

}  // namespace tessera::app
