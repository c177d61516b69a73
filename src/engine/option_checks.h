#pragma once

#include "engine/option_list.h"
#include "image_model/image_model.h"
#include "seq2seq/seq2seq.h"

namespace tessera::engine {

// Throws UsageError for numbers out of their bounds, and for an option that has no effect with the
// model, which must be a mistake.
//   stored  the model's options, used where `options` sets nothing
void check_options(const GenerateOptions& options, const seq2seq::Seq2Seq& model,
                   const seq2seq::GenerationOptions& stored, Spelling spelling = Spelling::field);
// The same. Options that need classes are refused if the model is not told any.
void check_options(const SampleOptions& options, const image_model::ImageModel& model,
                   Spelling spelling = Spelling::field);

}  // namespace tessera::engine
