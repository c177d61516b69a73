#pragma once

#include "corpus/corpus.h"
#include "text/dictionary.h"

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace tessera::seq2seq {

// What distillation changed.
struct DistillationReport {
  int64_t lines = 0;        // training pairs
  int64_t left_out = 0;     // of these: the teacher wrote nothing
  double length_ratio = 0;  // tokens of the teacher's targets over those of the real ones
  double bleu = 0;          // of the teacher's targets against the real ones
  std::string bleu_line;    // with its signature
  double identical = 0;     // share of targets the teacher wrote word by word

  // Above this share a teacher has learned its targets by heart, and hardly helps.
  static constexpr double kMemorised = 0.3;
};

// What a teacher makes of sources: ids with the end symbol to ids without it.
//   first_line  number of the first source in the corpus
using Teacher = std::function<std::vector<std::vector<text::Id>>(
    const std::vector<std::vector<text::Id>>& sources, int64_t first_line)>;

// Sequence-level knowledge distillation: a corpus like another one whose training targets are what
// a teacher makes of the sources. Validation and test stay as they are.
//   teacher  of the corpus's dictionary
//   key      says which teacher, in which settings: work that was begun with another one is not
//            gone on with
//   out      a folder that is not there. What is finished is kept in `out`.partial, and a call with
//            the same key goes on from there
//   progress called with the number of lines that were done
// A corpus that is complete, of the same key, is left as it is.
DistillationReport distill(const corpus::Corpus& corpus, const Teacher& teacher,
                           const std::string& key, const std::filesystem::path& out,
                           const std::function<void(int64_t)>& progress = {});

}  // namespace tessera::seq2seq
