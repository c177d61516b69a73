#pragma once

#include <tessera/base/api.h>

#include <filesystem>
#include <span>
#include <string>

namespace tessera {

// What was measured in training runs (metrics.jsonl) as CSV: a line of names, then a line for every
// record, in the order of writing. Runs that still train are fine.
//   columns  "run" if there are several runs: the names of their folders, or their paths where
//            names are equal; then the values, in the order in which they first appear. Lists
//            (histograms, samples) and pictures are left out.
//   cells    empty where a record lacks the value or it was not finite. Numbers read back as the
//            same doubles. Text with commas, quotes or line ends is quoted as in RFC 4180; control
//            characters are escaped ("\x1b"). Lines end with "\n".
// Throws Error for a folder that is not a run, that has measured nothing yet, or whose records have
// more than a thousand different names.
TESSERA_API std::string metrics_csv(std::span<const std::filesystem::path> runs);

}  // namespace tessera
