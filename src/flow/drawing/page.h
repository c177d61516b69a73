#pragma once

#include <string>

#include "flow/comparison.h"
#include "flow/drawing/figure.h"
#include "flow/options.h"
#include "flow/scene.h"

namespace tessera::flow {

struct PageFigures {
  Figure cells, forward, clock, contours, density, reverse, learning;
};

// The page that explains the method with these figures: one HTML file that needs no other.
std::string page(const PageFigures& figures, const Scene& scene, const FlowOptions& options,
                 const Comparison& comparison, const std::string& command);

}  // namespace tessera::flow
