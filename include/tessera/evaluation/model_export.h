#pragma once

#include <tessera/base/api.h>
#include <tessera/evaluation/text_evaluation.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace tessera {

// How a model is written to be passed on.
struct ModelExportOptions {
  std::string checkpoint = {};         // of a run: best, last or a step; empty: best, else last
  std::string precision = "bfloat16";  // of the weights; float32, int8; codes stay float32
  std::vector<std::filesystem::path> cards = {};  // TOML with what people say about it (models.md)
  std::string recipe = {};  // how it was trained, as TOML: goes into README.md
  // Models of text: measure the model before and after its weights are rounded.
  std::optional<CorpusPart> check = {};
  std::string device = "auto";                      // to measure on
  std::stop_token stop = {};                        // a request to stop throws Error
  std::function<void(int64_t more)> progress = {};  // newly finished texts of `check`
};

// A folder that was written.
struct ModelExport {
  std::filesystem::path folder;
  std::string kind = {};  // as config.json names it: "seq2seq", "image", "autoencoder"
  int64_t parameters = 0;
  uint64_t weights_bytes = 0, bytes = 0;  // of model.safetensors, of all files
  std::string sha256 = {};                // of model.safetensors, in hexadecimal digits

  struct Check {
    TextScore before = {}, after = {};  // BLEU
    int64_t sentences = 0;
  };
  std::optional<Check> check = {};
};

// Writes a model folder to be passed on: the averaged weights of a run or a model, rounded to
// nearest (ties to even), and no state of training. Equal models and options give equal bytes.
//   out  must not exist; appears once it is complete
// Throws Error for a model that cannot be loaded, UsageError for options that make no sense with
// it.
TESSERA_API ModelExport export_model(const std::filesystem::path& run_or_model,
                                     const std::filesystem::path& out,
                                     const ModelExportOptions& options = {});

}  // namespace tessera
