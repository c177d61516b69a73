#pragma once

#include "engine/option_list.h"
#include "model/seq2seq.h"

namespace tessera::engine {

// Throws UsageError for numbers out of their bounds, and for an option that changes nothing for
// the model: whoever gives it is mistaken.
//   stored  options that the model has, where they are not changed
void check_options(const GenerateOptions& options, const model::Seq2Seq& model,
                   const model::GenerationOptions& stored, Spelling spelling = Spelling::field);
// The same. Options that need classes are refused where the model is not told any.
void check_options(const SampleOptions& options, bool told_classes,
                   Spelling spelling = Spelling::field);

}  // namespace tessera::engine
