#pragma once

#include "config/config.h"

#include <tessera/process/adaptive_schedule.h>
#include <tessera/process/objective.h>
#include <tessera/process/process.h>
#include <tessera/process/sampler.h>

// The options of the process as configuration keys, each `prefix` + name.
namespace tessera {

void declare(config::Schema& schema, const std::string& prefix, ProcessOptions& options);
void declare(config::Schema& schema, const std::string& prefix, AdaptiveScheduleOptions& options);

// The parts of an objective: options of the squared error, of the cross-entropy of rounding, and
// the smoothing of labels, which other cross-entropies have, too.
void declare_error(config::Schema& schema, const std::string& prefix, ObjectiveOptions& options);
void declare_rounding(config::Schema& schema, const std::string& prefix, ObjectiveOptions& options);
void declare_smoothing(config::Schema& schema, const std::string& prefix,
                       ObjectiveOptions& options);

// The parts of a sampler: options of all families, of families of points, of families of symbols.
void declare_steps(config::Schema& schema, const std::string& prefix, SamplerOptions& options);
void declare_paths(config::Schema& schema, const std::string& prefix, SamplerOptions& options);
void declare(config::Schema& schema, const std::string& prefix, SymbolSampling& options);

}  // namespace tessera
