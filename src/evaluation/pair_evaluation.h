#pragma once

#include "engine/option_list.h"
#include "evaluation/text_pairs.h"

namespace tessera::evaluation {

// Throws UsageError for options that make no sense with the model. The engine checks the options of
// generation.
//   spelling  how the message names options
void check_options(const TextEvaluationOptions& options, const Engine& engine,
                   engine::Spelling spelling = engine::Spelling::field);

// Measures a model of text with texts and their references. The options have been checked.
TextEvaluation evaluate_pairs(const Engine& engine, TextPairs pairs,
                              const TextEvaluationOptions& options);

}  // namespace tessera::evaluation
