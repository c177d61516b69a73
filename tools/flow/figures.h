#pragma once

#include "drawing/figure.h"
#include "flow/comparison.h"
#include "flow/options.h"
#include "flow/scene.h"

namespace tessera::flow {

using drawing::Figure;

// The figures of the page, each from the scene and the library's own process.

Figure cells_figure(const Scene& mosaic, const Scene& cones);

// Paths for r = 0, 0.5 and 1 with their stopping points.
Figure forward_figure(const Scene& scene, const FlowOptions& options);

// Rescaled time against time for one of those paths.
Figure clock_figure(const Scene& scene, const FlowOptions& options);

// Contours of the density of one code's noisy points, at times from T to 0.
Figure contours_figure(const Scene& scene, const FlowOptions& options);

// Noisy points of all codes at several times, r = 0 above r = 1.
Figure density_figure(const Scene& scene, const FlowOptions& options);

// From codes to the same noise as a random walk, on a curve and on a straight line.
Figure trajectory_figure(const Scene& scene, const FlowOptions& options);

// How well the true symbol can be read from the noisy points, by t, r, noise factor and trajectory:
// random codes in many dimensions.
Figure rank_figure(uint64_t seed, at::Device device);

// Contours of what the trained networks have learnt: a circle of noise on its way back.
Figure learnt_contours_figure(const Scene& scene, const Comparison& comparison);

Figure reverse_figure(const Scene& scene, const Comparison& comparison);
Figure learning_figure(const Comparison& comparison, double chance);

// Where the pictures put a point of the plane; all panels of the plane have this size.
constexpr double kPlane = 300;
Point on_panel(Point p);

// The mosaic without anything on it, and the names of the codes.
std::string ground(const Scene& scene, bool with_names);

}  // namespace tessera::flow
