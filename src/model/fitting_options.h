#pragma once

#include "model/generation_options.h"
#include "model/seq2seq.h"

#include <span>
#include <string_view>

namespace tessera::model {

// An option of generation that was given, by its name: "steps", or "--steps" on a command line.
struct GivenOption {
  std::string_view name;
  bool given = false;
};

// Throws UsageError for an option that changes nothing for the model: whoever gives it is mistaken.
//   options  what is in force with them
void require_fitting_options(const Seq2Seq& model, const GenerationOptions& options,
                             std::span<const GivenOption> given);

}  // namespace tessera::model
