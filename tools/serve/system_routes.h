#pragma once

#include <functional>
#include <vector>

#include "serve/engine_room.h"
#include "serve/metrics.h"
#include "serve/routes.h"

namespace tessera::serve {

// /health, /ready and /metrics. What they are given must outlive them.
std::vector<Route> system_routes(std::function<Readiness()> readiness, const Metrics& metrics);

}  // namespace tessera::serve
