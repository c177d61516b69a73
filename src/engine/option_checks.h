#pragma once

#include "engine/option_list.h"
#include "model/seq2seq_options.h"

namespace tessera::engine {

// Throws UsageError for numbers out of their bounds, and for an option that changes nothing for
// models of this kind: whoever gives it is mistaken.
//   stored  options that the model has, where they are not changed
void check_options(const GenerateOptions& options, model::ModelKind kind,
                   const model::GenerationOptions& stored, Spelling spelling = Spelling::field);
// The same. Options that need classes are refused where the model is not told any.
void check_options(const SampleOptions& options, bool told_classes,
                   Spelling spelling = Spelling::field);

// Whether such a model searches for texts from left to right, rather than letting them condense.
bool is_search(model::ModelKind kind);

}  // namespace tessera::engine
