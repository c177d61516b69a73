#pragma once

#include <ATen/core/Tensor.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tessera::nn {

struct AdamWOptions {
  double beta1 = 0.9;    // decay of the mean gradient
  double beta2 = 0.999;  // decay of the mean squared gradient
  double eps = 1e-8;
  double weight_decay = 0.01;  // every step shrinks the weights by learning rate times this
};

// AdamW, one fused operation for all parameters. The learning rate is an argument of step():
// schedules live elsewhere.
class AdamW {
 public:
  // Parameters are leaves that require a gradient, of any shape, on one device.
  explicit AdamW(std::vector<at::Tensor> parameters, const AdamWOptions& options = {});

  // One update from the current gradients. A parameter without a gradient stays as it is.
  void step(double learning_rate);

  // The same with tensors instead of numbers, so that it can be part of a CUDA graph.
  //   learning_rate  scalar float32
  //   divisor        scalar float32: gradients are divided by this first
  //   skip           scalar float32: 1 leaves everything as it is, 0 does not
  void step(const at::Tensor& learning_rate, const at::Tensor& divisor, const at::Tensor& skip);

  // What the next update depends on besides parameters and gradients, by name. The tensors are
  // views.
  std::map<std::string, std::vector<at::Tensor>> state() const;

  void zero_grad();

 private:
  // Parameters that have a gradient, with what belongs to them.
  struct Active {
    std::vector<at::Tensor> parameters, gradients, means, squares, steps;
  };
  Active active() const;
  template <class Rate>  // double or a tensor
  void update(const Rate& learning_rate, const std::optional<at::Tensor>& divisor,
              const std::optional<at::Tensor>& skip);

  std::vector<at::Tensor> parameters_;
  std::vector<at::Tensor> means_, squares_;  // as the parameters
  std::vector<at::Tensor> steps_;            // scalar float32: updates made so far
  AdamWOptions options_;
};

}  // namespace tessera::nn
