#pragma once

#include <string>

#include "drawing/figure.h"
#include "flow/comparison.h"
#include "flow/options.h"
#include "flow/scene.h"

namespace tessera::flow {

using drawing::Figure;

struct PageFigures {
  Figure cells, trajectories, forward, clock, contours, learnt, density, ranks, reverse, learning;
};

// What the page says about things outside the plane.
struct PageContext {
  std::string command;    // how the reader can make the page again
  std::string more = {};  // sections (HTML) that follow those of the page
};

// The page that explains the method with these figures: one HTML file that needs no other.
std::string page(const PageFigures& figures, const Scene& scene, const FlowOptions& options,
                 const Comparison& comparison, const PageContext& context);

}  // namespace tessera::flow
