#include "flow/planar_model.h"

#include "nn/time_embedding.h"

#include <tessera/process/objective.h>

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <algorithm>

namespace tessera::flow {
namespace {

constexpr int64_t kTimeFeatures = 32;
constexpr int64_t kWarmUp = 50;  // updates

at::Tensor rows(int64_t count, at::Device device) {
  return at::arange(count, at::TensorOptions(at::kLong).device(device));
}

}  // namespace

Questions random_questions(const Scene& scene, int64_t count, const StreamId& stream) {
  const int64_t symbols = scene.symbols();
  const at::Tensor pair =
      random_integers(stream, rows(count, scene.codebook().device()), 0, symbols * symbols - 1);
  const at::Tensor first = at::floor_divide(pair, symbols), second = pair.remainder(symbols);
  return {first, second, (first + second).remainder(symbols)};
}

Questions subset(const Questions& questions, int64_t count) {
  const auto cut = [&](const at::Tensor& x) {
    return x.slice(0, 0, std::min(count, questions.size()));
  };
  return {cut(questions.first), cut(questions.second), cut(questions.answer)};
}

PlanarModel::PlanarModel(const Scene& scene, const Process& process, const TrainOptions& options,
                         uint64_t seed)
    : scene_(&scene),
      process_(process),
      options_(options),
      seed_(seed),
      network_({2 + 4 + kTimeFeatures, options.width, options.width, options.width, 2},
               {seed, Purpose::initial_weights, 0}, scene.codebook().device()),
      optimiser_(network_.parameters(), {.weight_decay = 0}) {}

at::Tensor PlanarModel::condition(const Questions& questions) const {
  const EmbeddingTable& table = scene_->codebook();
  return at::cat({table.encode(questions.first), table.encode(questions.second)}, -1);
}

at::Tensor PlanarModel::predict(const at::Tensor& x, const at::Tensor& t,
                                const at::Tensor& given) const {
  const at::Tensor time = network_time(t, process_.trajectory().horizon());
  return network_.forward(at::cat({x, given, nn::time_embedding(time, kTimeFeatures)}, -1));
}

void PlanarModel::update(int64_t step) {
  const EmbeddingTable& table = scene_->codebook();
  const auto stream = [&](Purpose purpose) {
    return StreamId{seed_, purpose, static_cast<uint64_t>(step)};
  };
  const Questions questions =
      random_questions(*scene_, options_.batch, stream(Purpose::data_order));
  const at::Tensor samples = rows(options_.batch, table.device());
  const at::Tensor x0 = table.encode(questions.answer);
  const at::Tensor eps = process_.draw_noise(stream(Purpose::training_noise), samples, {2});
  const at::Tensor t = process_.draw_time(stream(Purpose::training_time), samples);
  const Noised noised = process_.noise(table, x0, questions.answer, eps, t);

  const at::Tensor x0_hat = predict(noised.x, t, condition(questions));
  optimiser_.zero_grad();
  objective(process_, table, noised, x0_hat, x0, questions.answer, {}).total.backward();
  optimiser_.step(options_.learning_rate * std::min(1.0, (step + 1.0) / kWarmUp));
}

Sampler PlanarModel::sampler(const at::Tensor& condition, const SamplerOptions& options) const {
  const Denoiser denoiser = [this, condition](const at::Tensor& x, const at::Tensor& t,
                                              const at::Tensor&) {
    return predict(x, t, condition);
  };
  return Sampler(process_, scene_->codebook(), denoiser, options);
}

Sample PlanarModel::sample(const Questions& questions, const SamplerOptions& options,
                           const StepCallback& callback) const {
  const c10::NoGradGuard no_grad;
  const at::Tensor given = condition(questions);
  return sampler(given, options).run(rows(questions.size(), given.device()), {2}, callback);
}

std::vector<std::vector<Point>> PlanarModel::contours(int64_t answer, double radius, int64_t count,
                                                      const SamplerOptions& options) const {
  const c10::NoGradGuard no_grad;
  const Paths circle = contour_paths(*scene_, answer, radius, count);
  const Questions questions{at::zeros_like(circle.labels), circle.labels, circle.labels};
  std::vector<std::vector<Point>> rings;
  sampler(condition(questions), options)
      .run_from(circle.eps, rows(count, circle.eps.device()), [&](const SampleStep& step) {
        rings.push_back(to_points(step.x));
        return true;
      });
  return rings;
}

double PlanarModel::share_right(const Questions& questions, const SamplerOptions& options) const {
  const Sample found = sample(questions, options, {});
  return found.labels.eq(questions.answer).to(at::kDouble).mean().item<double>();
}

std::vector<ReversePath> PlanarModel::reverse_paths(const Questions& questions,
                                                    const SamplerOptions& options) const {
  std::vector<ReversePath> paths(static_cast<size_t>(questions.size()));
  const Sample found = sample(questions, options, [&](const SampleStep& step) {
    const auto points = to_points(step.x);
    for (size_t i = 0; i < paths.size(); ++i) paths[i].points.push_back(points[i]);
    return true;
  });
  const auto ends = to_points(found.x0);
  const auto landed = to_numbers(found.labels), wanted = to_numbers(questions.answer);
  for (size_t i = 0; i < paths.size(); ++i) {
    paths[i].end = ends[i];
    paths[i].landed = static_cast<int64_t>(landed[i]);
    paths[i].wanted = static_cast<int64_t>(wanted[i]);
  }
  return paths;
}

}  // namespace tessera::flow
