#include "flow/gallery.h"

#include "flow/figures.h"

namespace tessera::flow {

Gallery make_gallery(const FlowOptions& options, at::Device device, const PageContext& context) {
  const Scene mosaic(Cells::mosaic, options.codes, options.seed, device);
  const Scene cones(Cells::cones, options.codes, options.seed, device);
  const Scene& scene = options.cells == Cells::mosaic ? mosaic : cones;

  Gallery gallery;
  gallery.comparison = compare(scene, options);
  const PageFigures figures{
      .cells = cells_figure(mosaic, cones),
      .trajectories = trajectory_figure(scene, options),
      .forward = forward_figure(scene, options),
      .clock = clock_figure(scene, options),
      .contours = contours_figure(scene, options),
      .learnt = learnt_contours_figure(scene, gallery.comparison),
      .density = density_figure(scene, options),
      .ranks = rank_figure(options.seed, device),
      .reverse = reverse_figure(scene, gallery.comparison),
      .learning = learning_figure(gallery.comparison, 1.0 / static_cast<double>(scene.symbols())),
  };
  for (const Figure* figure :
       {&figures.cells, &figures.trajectories, &figures.forward, &figures.clock, &figures.contours,
        &figures.learnt, &figures.density, &figures.ranks, &figures.reverse, &figures.learning})
    gallery.files[figure->name + ".svg"] = drawing::svg_file(*figure);
  gallery.files["index.html"] = page(figures, scene, options, gallery.comparison, context);
  return gallery;
}

}  // namespace tessera::flow
