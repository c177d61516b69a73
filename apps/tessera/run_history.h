#pragma once

#include "inspection.h"
#include "task/recipe.h"

namespace tessera::app {

// The course of a run, from its metrics.jsonl:
//   {"rows": [{"what": "first", "step", "loss", "valid_loss", "bleu", "exact_match", "distance"},
//   ...best, last],
//    "losses": [...]}
// What was not measured at a step is null. "rows" is empty if there is nothing yet.
//   score  selects the best row; the validation loss does if that was not measured
Report history_report(const std::filesystem::path& metrics, const std::string& score);

}  // namespace tessera::app
