#pragma once

#include <span>
#include <string>

#include "report/run_record.h"

namespace tessera::report {

// Runs side by side: curves of loss, score, learning rate, gradient and speed, stopping times, what
// they made of the same sentences, and their configuration. A curve has the colour of its run's
// place in the list.

// As sections (HTML) of a page of drawing/page.h.
std::string training_sections(std::span<const RunRecord> runs);

// As a page of its own that needs no other file.
//   command  how the reader can make the page again
std::string training_page(std::span<const RunRecord> runs, const std::string& command);

}  // namespace tessera::report
