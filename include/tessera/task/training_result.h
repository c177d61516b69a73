#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace tessera {

// A training that is finished or was stopped.
struct TrainingResult {
  // The best of the validated checkpoints that are kept.
  struct Best {
    int64_t step = 0;
    double score = 0;  // the higher, the better
    std::string text;  // for people: "BLEU 32.45"
  };

  std::filesystem::path run;  // folder, which an Engine or a Translator can load
  bool stopped = false;       // on request; all is saved, and the run can be resumed
  int64_t steps = 0;          // updates of the run, including earlier trainings
  double seconds = 0;         // taken by this training; 0: nothing was left to do
  std::optional<Best> best;
  std::vector<std::string> next_commands;  // of the program `tessera`, for this run
};

}  // namespace tessera
