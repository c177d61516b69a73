#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace tessera {

// A training that has come to its end, or was stopped.
struct TrainingResult {
  // The best of the validated checkpoints that are kept.
  struct Best {
    int64_t step = 0;
    double score = 0;  // the higher, the better
    std::string text;  // for people: "BLEU 32.45"
  };

  std::filesystem::path run;  // folder: an Engine or a Translator takes it
  bool stopped = false;       // as it was asked to; all is saved, and the run can be resumed
  int64_t steps = 0;          // updates of the run, those of earlier trainings included
  double seconds = 0;         // that this training took; 0: nothing was left to do
  std::optional<Best> best;
  std::vector<std::string> next_commands;  // of the program `tessera`, for this run
};

}  // namespace tessera
