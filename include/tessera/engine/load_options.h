#pragma once

#include <filesystem>
#include <string>

namespace tessera {

// How a model is loaded: what stays the same for all requests.
struct LoadOptions {
  std::string device = "auto";          // auto, cpu, cuda or cuda:N
  std::string precision = "auto";       // float32, bfloat16, int8 (text on a CPU); auto:
                                        // bfloat16 on CUDA only
  std::string checkpoint = {};          // of a run: best, last or a step; empty: best, else last
  std::filesystem::path reranker = {};  // text models: run or model for the selection "rerank"
};

}  // namespace tessera
