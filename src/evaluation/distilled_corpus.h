#pragma once

#include "corpus/corpus.h"
#include "files/block_folder.h"
#include "text/dictionary.h"

#include <tessera/evaluation/distillation.h>

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace tessera::evaluation {

// Makes targets from sources: ids with the end symbol to ids without it.
//   first_line  number of the first source in the corpus
using Teacher = std::function<std::vector<std::vector<text::Id>>(
    const std::vector<std::vector<text::Id>>& sources, int64_t first_line)>;

// Writes a corpus whose training targets are the teacher's, as distill() describes it.
//   teacher  must have the corpus's dictionary
//   key      identifies the teacher and its settings: work begun under another key is not continued
//   progress called with the number of newly finished lines
DistillationReport write_distilled(const corpus::Corpus& corpus, const Teacher& teacher,
                                   const std::string& key, const std::filesystem::path& out,
                                   const std::function<void(int64_t)>& progress = {});

// The share of one of several processes: writes finished targets beside `out`, where
// write_distilled() finds them. Throws Error if work by another key was begun there.
// Returns how many lines the share has.
int64_t write_distilled_share(const corpus::Corpus& corpus, const Teacher& teacher,
                              const std::string& key, const std::filesystem::path& out,
                              const Shard& share,
                              const std::function<void(int64_t)>& progress = {});

}  // namespace tessera::evaluation
