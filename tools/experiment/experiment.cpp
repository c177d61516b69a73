#include <tessera/experiment/experiment.h>

#include "experiment/stopped.h"
#include "experiment/table_run.h"

namespace tessera {

ExperimentResult run_experiment(const ExperimentRequest& request) {
  try {
    return experiment::run_table(experiment::read_table(request.table, request.set), request);
  } catch (const experiment::Stopped&) {
    return {.stopped = true, .markdown = {}, .json = {}, .page = {}};
  }
}

}  // namespace tessera
