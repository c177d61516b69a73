#include "flow/comparison.h"

#include "base/progress.h"

#include <fmt/format.h>

#include <cmath>

namespace tessera::flow {
namespace {

constexpr int64_t kMeasurements = 16;  // of a curve
constexpr int64_t kPictured = 28;      // reverse paths in a picture
// Reverse paths are pictured during training, when there still is something to see: in the end both
// kinds of network answer nearly everything.
constexpr double kPicturedAt = 0.75;

// Splits one seed into one per run.
uint64_t seed_of_run(uint64_t seed, int64_t run) {
  RandomStream stream({seed, Purpose::picture, 2}, static_cast<uint64_t>(run));
  const uint64_t high = stream.bits();
  return high << 32 | stream.bits();
}

LearningCurve learn(const Scene& scene, const FlowOptions& options, double r, Progress& bar) {
  const Process process({.trajectory = options.trajectory, .r = r, .no_exit = options.no_exit});
  LearningCurve curve;
  curve.r = r;
  for (int64_t k = 0; k <= kMeasurements; ++k) {
    const int64_t at = options.train.updates * k / kMeasurements;
    if (curve.updates.empty() || at > curve.updates.back()) curve.updates.push_back(at);
  }
  curve.pictured = static_cast<size_t>(kPicturedAt * static_cast<double>(curve.updates.size() - 1));
  for (int64_t run = 0; run < options.train.runs; ++run) {
    const uint64_t seed = seed_of_run(options.seed, run);
    const Questions questions =
        random_questions(scene, options.samples, {seed, Purpose::validation, 0});
    SamplerOptions sampler;
    sampler.steps = options.sampler_steps;
    sampler.self_conditioning = false;
    sampler.seed = seed;

    PlanarModel model(scene, process, options.train, seed);
    std::vector<double>& shares = curve.shares.emplace_back();
    int64_t step = 0;
    for (const int64_t until : curve.updates) {
      for (; step < until; ++step) {
        model.update(step);
        bar.advance();
      }
      shares.push_back(model.share_right(questions, sampler));
      bar.note(fmt::format("r = {}, run {}: {:.0f} % right", r, run + 1, 100 * shares.back()));
      if (run == 0 && shares.size() == curve.pictured + 1)
        curve.paths = model.reverse_paths(subset(questions, kPictured), sampler);
    }
    if (run == 0) {
      curve.ringed = middle_code(scene);
      curve.rings = model.contours(curve.ringed, kContourRadius, kContourPoints, sampler);
    }
  }
  return curve;
}

}  // namespace

double LearningCurve::mean(size_t measurement) const {
  double sum = 0;
  for (const auto& run : shares) sum += run[measurement];
  return sum / static_cast<double>(shares.size());
}

double LearningCurve::standard_error(size_t measurement) const {
  const double centre = mean(measurement), count = static_cast<double>(shares.size());
  double sum = 0;
  for (const auto& run : shares) sum += (run[measurement] - centre) * (run[measurement] - centre);
  return std::sqrt(sum / (count - 1) / count);
}

int64_t LearningCurve::updates_to_reach(double share) const {
  for (size_t k = 0; k < updates.size(); ++k)
    if (mean(k) >= share) return updates[k];
  return 0;
}

Comparison compare(const Scene& scene, const FlowOptions& options) {
  Progress bar("learning", 2 * options.train.runs * options.train.updates);
  return {learn(scene, options, 0.0, bar), learn(scene, options, 1.0, bar)};
}

}  // namespace tessera::flow
