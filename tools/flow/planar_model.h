#pragma once

#include <tessera/process/process.h>
#include <tessera/process/sampler.h>

#include <vector>

#include "flow/options.h"
#include "flow/scene.h"
#include "nn/adamw.h"
#include "nn/mlp.h"

namespace tessera::flow {

// The question to the network: given two cells, a and b, where is the cell a + b (modulo their
// number)? There is one right answer, and a point either lands in its cell or does not.
struct Questions {
  at::Tensor first, second, answer;  // [N] each

  int64_t size() const { return answer.size(0); }
};

Questions random_questions(const Scene& scene, int64_t count, const StreamId& stream);
Questions subset(const Questions& questions, int64_t count);  // the first ones

// One reverse path.
struct ReversePath {
  int64_t wanted, landed;
  std::vector<Point> points;  // given to the network, call by call
  Point end;                  // its last estimate
};

// A perceptron that denoises points of the plane:  x0_hat = net(x, t, codes of a and b).
class PlanarModel {
 public:
  PlanarModel(const Scene& scene, const Process& process, const TrainOptions& options,
              uint64_t seed);

  void update(int64_t step);  // one update; steps count from 0

  // Share of the questions whose reverse path ends in the right cell.
  double share_right(const Questions& questions, const SamplerOptions& options) const;

  std::vector<ReversePath> reverse_paths(const Questions& questions,
                                         const SamplerOptions& options) const;

  // Where the points of the circle |eps| = radius are before every network call, on the way back
  // to `answer`: contours of what the network has learnt, [calls][count].
  std::vector<std::vector<Point>> contours(int64_t answer, double radius, int64_t count,
                                           const SamplerOptions& options) const;

 private:
  at::Tensor predict(const at::Tensor& x, const at::Tensor& t, const at::Tensor& condition) const;
  at::Tensor condition(const Questions& questions) const;  // [N, 4]
  Sampler sampler(const at::Tensor& condition, const SamplerOptions& options) const;
  Sample sample(const Questions& questions, const SamplerOptions& options,
                const StepCallback& callback) const;

  const Scene* scene_;
  Process process_;
  TrainOptions options_;
  uint64_t seed_;
  nn::Mlp network_;
  nn::AdamW optimiser_;
};

}  // namespace tessera::flow
