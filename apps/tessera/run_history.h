#pragma once

#include "inspection.h"
#include "task/recipe.h"

namespace tessera::app {

// The course of a run, from its metrics.jsonl:
//   {"rows": [{"what": "first", "step", "loss", "valid_loss", "bleu", "exact_match", "distance"},
//   ...best, last],
//    "losses": [...]}
// What was not measured at a step is null. "rows" is empty where there is nothing yet.
//   score  what says which row is the best; validation loss where that was not measured
Report history_report(const std::filesystem::path& metrics, const std::string& score);

}  // namespace tessera::app
