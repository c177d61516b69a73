#include "model_settings.h"

namespace tessera::app {

void add_model_option(CLI::App& command, ModelSettings& settings) {
  command.add_option("folder", settings.folder, "folder of a training run, or of a model")
      ->required()
      ->option_text("RUN|MODEL");
}

void add_loading_options(CLI::App& command, ModelSettings& settings) {
  command
      .add_option("--checkpoint", settings.checkpoint,
                  "checkpoint of a run: best, last, or a number of updates (default: best if there "
                  "is one, else last)")
      ->option_text("best|last|N");
  command
      .add_option("--precision", settings.precision,
                  "number format of the network; auto is bfloat16 on CUDA and float32 on a CPU "
                  "(for text, int8 is the fastest there; bfloat16 is faster if the CPU has "
                  "AVX512-BF16 or AMX)")
      ->option_text("auto|float32|bfloat16|int8");
}

}  // namespace tessera::app
