#pragma once

#include <tessera/base/api.h>

#include <filesystem>
#include <span>
#include <string>

namespace tessera {

// Training runs side by side, as one HTML page that needs no other file: curves of loss and score,
// what the runs made from the same sentences or noise, their configuration. Runs that still train
// are fine. Throws Error for a folder that is not a run or has measured nothing yet.
//   command  how a reader can make the page again; empty: the page does not say
TESSERA_API std::string training_report(std::span<const std::filesystem::path> runs,
                                        const std::string& command = {});

}  // namespace tessera
