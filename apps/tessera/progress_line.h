#pragma once

#include <tessera/base/progress_sink.h>

#include <string>

namespace tessera::app {

// One line of at most `columns` characters (0: any number, without a bar, as for a log):
//   sampling  42% [========>           ]  420/1000  12.3/s  eta 0:47  loss 1.23
// or, with the total unknown,
//   sampling  420  12.3/s  0:35  loss 1.23
// If the line is too short, the bar shrinks and disappears, then the note, then the count go.
std::string progress_line(const ProgressEvent& event, int columns);

std::string rate_text(double per_second);  // "12.3/s", "4.50k/s", "7.20/min", "3.00/h"

}  // namespace tessera::app
