#pragma once

#include "experiment/table.h"

#include <tessera/experiment/experiment.h>

namespace tessera::experiment {

// run_experiment() with a table that has been read. Throws Stopped if it was asked to stop.
ExperimentResult run_table(const Table& table, const ExperimentRequest& request);

}  // namespace tessera::experiment
