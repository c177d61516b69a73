#include "flow/page.h"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <tessera/process/boundary.h>

#include <string_view>

#include "drawing/page.h"
#include "drawing/palette.h"
#include "drawing/svg.h"
#include "flow/figures.h"
#include "flow/slider_script.h"

namespace tessera::flow {

using drawing::captioned;
using drawing::escaped;
using drawing::inline_svg;
using drawing::kHues;
using drawing::number;
using drawing::panels;
using drawing::section;
using drawing::Svg;

namespace {

constexpr int64_t kSliderPaths = 100;  // of every symbol

std::string list(const std::vector<double>& values, int decimals) {
  std::string text;
  for (const double value : values) text += (text.empty() ? "" : ",") + number(value, decimals);
  return "[" + text + "]";
}

std::string cells_section(const PageFigures& figures) {
  return section("A symbol is a cell",
                 "<p>A network works with points; words and pixels are symbols. So every symbol "
                 "gets a point, its code. But a result need not hit the code to be right. "
                 "It is decoded to whichever symbol scores highest, and all points that "
                 "decode to a symbol form its <em>cell</em>. The cells tile the space like a "
                 "mosaic.</p>\n" +
                     captioned(panels(figures.cells, 2, 1, "plane"),
                               "A point may belong to the nearest code (affine scores) or, with "
                               "codes of equal length, to the code with the largest dot product "
                               "(linear scores), which is how text is decoded. "
                               "The library finds the borders of both exactly."));
}

std::string trajectory_section(const PageFigures& figures) {
  return section(
      "From a code to noise",
      "<p>There are many ways from a code to noise. A Markov chain adds a little noise at every "
      "step. But a network is shown only a noisy point at some time, and for that code and noise "
      "may as well be joined by a curve, or by a straight line.</p>\n" +
          captioned(
              panels(figures.trajectories, 3, 1, "plane"),
              "The same codes and the same ends: a chain that keeps the variance, the curve of "
              "vp-sqrt, and the straight line of ot."));
}

std::string forward_section(const PageFigures& figures, const FlowOptions& options) {
  return section(
      "Where a path leaves its cell",
      "<p>Diffusion teaches a network to undo noise: it draws a path from a code to a random "
      "point and asks, from somewhere along the path, where it began. On the first stretch the "
      "path is still inside its own cell: the answer is plain to see. It leaves at its "
      "<em class=\"stop\">stopping time</em> <i>t</i><sub>0</sub>, which can be computed in closed "
      "form.</p>\n<p>Tessera lets the path begin later, at a fraction <i>r</i> of its stopping "
      "time. At <i>r</i> = 0 this is plain diffusion. At <i>r</i> = 1 every path begins on the "
      "border of its cell.</p>\n" +
          captioned(
              panels(figures.forward, 3, 1, "plane"),
              fmt::format("The same paths three times ({} trajectory). Dots mark equal times "
                          "<i>t</i> = 0, ¼, ½, ¾ and 1 of T; red rings "
                          "the stopping points; dotted is what is left out. One path "
                          "ends within its own cell and never leaves: {}.",
                          name_of(options.trajectory.kind),
                          options.no_exit == NoExit::full
                              ? "its stopping time is T, so at <i>r</i> = 1 only its end is left"
                              : "here such paths are not rescaled")));
}

std::string clock_section(const PageFigures& figures) {
  return section(
      "One clock for the network, one for each point",
      "<div class=\"beside\">\n<div>\n<p>The part of the path that is left is spread over the "
      "whole of time. The network is told <i>t</i>, the same for all elements of a sample; each "
      "element stands where its own, <em>rescaled</em> clock says.</p>\n"
      "<p class=\"formula\">τ = t + r·t<sub>0</sub>·(1 − t/T)</p>\n"
      "<p>All clocks agree at T, where everything is noise. They differ near 0, where plain "
      "diffusion ends on the code and the rescaled path ends on the border.</p>\n</div>\n" +
          captioned(panels(figures.clock, 1, 1, "chart"),
                    "The red ring is the stopping time of this path.") +
          "</div>\n");
}

std::string sliders_section(const Scene& scene, const FlowOptions& options) {
  const Trajectory trajectory(options.trajectory);
  const double horizon = trajectory.horizon();
  const Paths paths =
      random_paths(scene, kSliderPaths * scene.symbols(), {options.seed, Purpose::picture, 4});
  const auto stop = stopping_time(trajectory, scene.codebook(), paths.x0, paths.eps, paths.labels,
                                  options.no_exit);
  // The curves of VP and VE trajectories are not straight: enough points to look so.
  const int64_t samples = trajectory.kind() == TrajectoryKind::ot ? 2 : 257;
  const at::Tensor tau = at::linspace(0, horizon, samples, at::kDouble);
  std::vector<double> ends;
  for (const Point& p : to_points(paths.eps)) ends.insert(ends.end(), {p.x, p.y});
  std::string codes;
  for (const Point& p : scene.codes()) codes += (codes.empty() ? "" : ",") + list({p.x, p.y}, 3);
  const std::string data = fmt::format(
      R"({{"half":{},"extent":{},"codes":[{}],"u":{},"v":{},"t0":{},"stays":{},"eps":{}}})",
      number(kPlane / 2), number(Scene::kExtent), codes, list(to_numbers(trajectory.u(tau)), 4),
      list(to_numbers(trajectory.v(tau)), 4), list(to_numbers(stop.t0 / horizon), 4),
      list(to_numbers(stop.no_exit), 0), list(ends, 2));

  Svg svg;
  svg.raw(ground(scene, true));
  const Process process({.trajectory = options.trajectory, .r = 1, .no_exit = options.no_exit});
  const auto points = positions(scene, process, paths, 0.25 * horizon);
  for (int64_t k = 0; k < scene.symbols(); ++k) {
    std::string d;
    for (size_t i = k; i < points.size(); i += scene.symbols()) {
      const Point p = on_panel(points[i]);
      d += "M" + number(p.x) + " " + number(p.y) + "h0";
    }
    svg.raw(
        fmt::format("<path class=\"dots s{}\" data-symbol=\"{}\" d=\"{}\"/>\n", k % kHues, k, d));
  }
  return section(
      "Move it yourself",
      "<div class=\"beside\" id=\"sliders\">\n<div class=\"plane\">\n" +
          inline_svg({"Noisy points at the time and r of the sliders", svg.body()}) +
          "</div>\n<div>\n<p>Each dot is one path, in the colour of its symbol. Take "
          "<i>t</i> down from T and watch where the dots come to rest: on the codes at "
          "<i>r</i> = 0, on the borders at <i>r</i> = 1.</p>\n"
          "<div class=\"controls\" id=\"controls\" hidden>\n"
          "<label><i>t</i><input id=\"t\" type=\"range\" min=\"0\" max=\"1\" step=\"0.005\" "
          "value=\"0.25\" aria-label=\"time t as a share of T\"><output "
          "id=\"t-value\"></output></label>\n"
          "<label><i>r</i><input id=\"r\" type=\"range\" min=\"0\" max=\"1\" step=\"0.01\" "
          "value=\"1\" aria-label=\"confidence factor r\"><output "
          "id=\"r-value\"></output></label>\n"
          "<button id=\"play\" type=\"button\">Play t from T to 0</button>\n"
          "<p id=\"told\"></p>\n</div>\n</div>\n</div>\n"
          "<script type=\"application/json\" id=\"paths\">" +
          data + "</script>\n");
}

std::string density_section(const PageFigures& figures) {
  return section(
      "The noise takes the shape of the cells",
      "<p>Follow all noise ends at the same distance from the middle back along their paths and "
      "they draw a contour of the density. Plain diffusion shrinks a circle to a point, whatever "
      "the cell looks like. With <i>r</i> = 1 the contour bends until it fits the border.</p>\n" +
          captioned(panels(figures.contours, 2, 1, "plane"),
                    "One code, noise at |ε| = 2 (86 % of all noise is within), at "
                    "<i>t</i> = 1, 0.75, 0.5, 0.25, 0.1 and 0 of T.") +
          captioned(panels(figures.learnt, 2, 1, "plane"),
                    "What a trained network makes of the same circle: where its points are on "
                    "the way back, before every call (the network of the last section, asked for "
                    "this cell).") +
          "<p style=\"margin-top:2.6rem\">Noisy points of all codes together: with <i>r</i> = 0 "
          "they gather inside the cells, where there is nothing left to decide. With "
          "<i>r</i> = 1 the insides empty and the points line the borders, where neighbours are "
          "hard to tell apart.</p>\n" +
          captioned(panels(figures.density, 4, 2, "plane"),
                    "Above <i>r</i> = 0, below <i>r</i> = 1, the same noise. The dots that stay "
                    "inside at <i>r</i> = 1 belong to paths that never leave their cell; with "
                    "thousands of symbols in a hundred dimensions such paths are rare."));
}

std::string rank_section(const PageFigures& figures) {
  return section(
      "What can be read off a point",
      "<p>Two dimensions are few. In many, with thousands of codes, ask how many symbols score "
      "higher at the noisy point than the true one. At rank 1 the point gives the answer away: a "
      "network that sees much of that learns to trust the point, and in sampling the point holds "
      "its own first guess. The boundary and a larger noise factor <i>F</i> both take such points "
      "away.</p>\n" +
          captioned(panels(figures.ranks, 2, 1, "charts"),
                    "2,000 random codes in 128 dimensions, 200 paths. Grey: <i>r</i> = 0, ochre: "
                    "<i>r</i> = 0.5, red: <i>r</i> = 1. Solid: <i>F</i> = 1, dashed: "
                    "<i>F</i> = 4. <code>tessera inspect RUN</code> prints it for a model."));
}

std::string percent(const LearningCurve& curve, size_t measurement) {
  return fmt::format("{:.1f} ± {:.1f} %", 100 * curve.mean(measurement),
                     100 * curve.standard_error(measurement));
}

std::string reach(const LearningCurve& curve) {
  const int64_t updates = curve.updates_to_reach(0.9);
  return updates > 0 ? fmt::format("{}", updates) : fmt::format("over {}", curve.updates.back());
}

std::string reverse_section(const PageFigures& figures, const Scene& scene,
                            const FlowOptions& options, const Comparison& comparison) {
  const LearningCurve &plain = comparison.plain, &boundary = comparison.boundary;
  const size_t last = plain.updates.size() - 1, middle = plain.pictured;
  const auto inside = [&](double r) {
    const Process process({.trajectory = options.trajectory, .r = r, .no_exit = options.no_exit});
    return share_inside(scene, process, options.seed);
  };
  const auto row = [&](const LearningCurve& curve) {
    return fmt::format("<tr><th><i>r</i> = {}</th><td>{}</td><td>{}</td><td>{}</td></tr>\n",
                       number(curve.r), percent(curve, middle), percent(curve, last), reach(curve));
  };
  const std::string table = fmt::format(
      "<table>\n<thead><tr><th>Share in the right cell</th><th>after {} updates</th>"
      "<th>after {} updates</th><th>updates to reach 90 %</th></tr></thead>\n<tbody>\n{}{}</tbody>"
      "\n</table>\n",
      plain.updates[middle], plain.updates[last], row(plain), row(boundary));
  return section(
      "The way back",
      fmt::format(
          "<p>Does it help? Here is a small test with a right answer. The cells are numbered. A "
          "network is given two of them, a and b, and a noisy point, and must say where the point "
          "came from: the cell (a + b) mod {}. A training point that has not left its cell gives "
          "the answer away, and nothing is learned about sums. {:.0f} % of the training points are "
          "of that kind at <i>r</i> = 0, and {:.0f} % at <i>r</i> = 1.</p>\n"
          "<p>In the test it starts from pure noise, which says nothing, and walks back in {} "
          "steps. A sample counts if it ends in the right cell. Guessing is right {:.1f} % of the "
          "time.</p>\n",
          scene.symbols(), 100 * inside(0), 100 * inside(1), options.sampler_steps,
          100.0 / static_cast<double>(scene.symbols())) +
          captioned(panels(figures.reverse, 2, 1, "plane"),
                    fmt::format("Reverse paths from the same noise and the same questions, one "
                                "network each after {} updates, in the colour of the right answer. "
                                "Disc: ended in the right cell. Red cross: in a wrong one. "
                                "The dashed line is the last estimate, taken as the result.",
                                plain.updates[middle])) +
          captioned(
              panels(figures.learning, 1, 1, "chart"),
              fmt::format(
                  "{} networks for each <i>r</i>, all on these codes; a pair shares first weights, "
                  "questions, noise and times. {} samples each per measurement. "
                  "Thin lines: every network. Thick: their mean, shaded by "
                  "its standard error.",
                  options.train.runs, options.samples)) +
          table +
          "<p>This is one toy in the plane, made to show a mechanism. It says "
          "nothing about how much text or images gain.</p>\n");
}

std::string footer(const FlowOptions& options, const std::string& command) {
  return fmt::format(
      "{}<p>{} cells, {} codes, {} trajectory, T = {}, seed {}. Network: three hidden layers of "
      "{}, batches of {}, AdamW at {}. The drawings lie next to this page as SVG files.</p>\n",
      drawing::made_by(command), name_of(options.cells), options.codes,
      name_of(options.trajectory.kind), options.trajectory.horizon, options.seed,
      options.train.width, options.train.batch, options.train.learning_rate);
}

}  // namespace

std::string page(const PageFigures& figures, const Scene& scene, const FlowOptions& options,
                 const Comparison& comparison, const PageContext& context) {
  return drawing::page(
      {.title = "Tessera: paths that know where the cells end",
       .heading = "Paths that know where the cells end",
       .lead = fmt::format("Boundary-conditional diffusion of discrete data, in pictures. "
                           "Everything below was computed by the library, {}in the plane, where "
                           "one can see it{}.",
                           context.more.empty() ? "" : "first ",
                           context.more.empty() ? "" : ", then with symbols that mean something"),
       .body = cells_section(figures) + trajectory_section(figures) +
               forward_section(figures, options) + clock_section(figures) +
               sliders_section(scene, options) + density_section(figures) + rank_section(figures) +
               reverse_section(figures, scene, options, comparison) + context.more,
       .footer = footer(options, context.command),
       .script = std::string(kSliderScript)});
}

}  // namespace tessera::flow
