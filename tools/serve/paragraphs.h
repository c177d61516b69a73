#pragma once

#include <string>
#include <vector>

#include "serve/service.h"

namespace tessera::serve {

// A text as clients send it: paragraphs, several sentences, perhaps HTML.
struct Passage {
  std::string text;
  bool html = false;  // translate what stands between the tags
};

struct PassageOptions {
  bool split = true;         // into sentences; models know single ones
  bool line_ends = true;     // a line end ends a sentence; in HTML, only within <pre>
  int64_t alternatives = 0;  // further translations wanted, at most
};

struct TranslatedPassage {
  std::string text;
  std::vector<std::string> alternatives = {};  // distinct, and other than `text`; best first
  std::vector<size_t> sentences = {};          // their places among the results, in order
};

struct TranslatedPassages {
  std::vector<TranslatedPassage> passages = {};
  std::vector<TextResult> results = {};  // of all sentences that differ
  JobTimes times = {};                   // zero if there was nothing to translate
};

// Translates passages as one job: splits them, leaves out what has no letters, and puts the
// results together with the white space and tags of the original. In HTML, every run of text
// between tags is translated on its own; a tag within a sentence divides it.
// Alternative k of a passage has the k-th further candidate of every sentence, or the chosen one
// where a sentence has fewer.
//   job  model, seed, options and hooks; its texts are set here
// Throws what Service::translate throws.
TranslatedPassages translate_passages(Service& service, const std::vector<Passage>& passages,
                                      const PassageOptions& options, TextJob job);

// The model for a pair of languages, and how it is chosen.
//   source  "auto" or empty: the only one there is for the target, or the first
// Throws Refusal (400) that says which pairs there are.
size_t model_for(const Service& service, const std::string& source, const std::string& target);

}  // namespace tessera::serve
