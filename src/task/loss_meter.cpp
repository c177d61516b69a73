#include "task/loss_meter.h"

#include <ATen/ATen.h>

#include <algorithm>

namespace tessera::task {

LossMeter::LossMeter(const nn::Trainable& model)
    : model_(model),
      sums_(at::zeros({static_cast<int64_t>(model.measures().size()) + 2},
                      at::TensorOptions().dtype(at::kDouble).device(model.device()))) {}

void LossMeter::add(const nn::TrainingLoss& loss) {
  const at::Tensor one = at::ones_like(loss.measures.slice(0, 0, 1));
  sums_ += at::cat({loss.total.view({1}), loss.measures, one}).to(at::kDouble) *
           loss.elements.to(at::kDouble);
}

LossMeter::Means LossMeter::means() const {
  const at::Tensor host = sums_.cpu();
  const double* sum = host.const_data_ptr<double>();
  const auto names = model_.measures();
  const double data = std::max(sum[names.size() + 1], 1.0);
  Means means{sum[0] / data, {}};
  for (size_t k = 0; k < names.size(); ++k) means.parts.emplace_back(names[k], sum[k + 1] / data);
  return means;
}

}  // namespace tessera::task
