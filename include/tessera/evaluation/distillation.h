#pragma once

#include <tessera/base/api.h>
#include <tessera/engine/engine.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <stop_token>
#include <string>

namespace tessera {

struct DistillationOptions {
  GenerateOptions generation = {};  // how the teacher generates
  uint64_t seed = 1;
  std::stop_token stop = {};  // a request to stop throws Error; finished work is kept
  std::function<void(int64_t more)> progress = {};  // newly finished training pairs
};

// What distillation changed.
struct DistillationReport {
  int64_t lines = 0;           // training pairs
  int64_t left_out = 0;        // of these, pairs for which the teacher wrote nothing
  double length_ratio = 0;     // tokens of the teacher's targets over those of the real ones
  double bleu = 0;             // of the teacher's targets against the real ones
  std::string bleu_line = {};  // with its signature
  double identical = 0;        // share of the targets that equal the real ones

  // Above this share a teacher has learned its targets by heart, and hardly helps.
  static constexpr double kMemorised = 0.3;
};

// Sequence-level knowledge distillation: copies a corpus, but replaces its training targets with
// what a teacher generates from the sources. Validation and test stay as they are.
//   corpus  a folder that `tessera prepare` wrote, with the teacher's dictionary
//   out     a folder that does not exist yet. Finished work is kept in `out`.partial; a call with
//           the same teacher, corpus and options continues from there
// If `out` already holds the complete corpus of the same teacher and options, it is left as it is.
TESSERA_API DistillationReport distill(const Engine& teacher, const std::filesystem::path& corpus,
                                       const std::filesystem::path& out,
                                       const DistillationOptions& options = {});

// The same by several processes, on one machine or many that share a file system: process `index`
// of `count`, from 0, makes its share of the targets. When all have ended, distill() with the same
// teacher, corpus and options puts the corpus together; it makes what is missing. Returns how many
// training pairs the share has.
TESSERA_API int64_t distill_share(const Engine& teacher, const std::filesystem::path& corpus,
                                  const std::filesystem::path& out, int64_t index, int64_t count,
                                  const DistillationOptions& options = {});

}  // namespace tessera
