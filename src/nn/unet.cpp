#include "nn/unet.h"

#include "base/require.h"
#include "nn/join.h"
#include "nn/time_embedding.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tessera::nn {
namespace {

Initial usual(int64_t inputs) {
  return Initial::normal(1 / std::sqrt(3.0 * static_cast<double>(inputs)));
}

Linear usual_linear(Parameters& parameters, const std::string& name, int64_t inputs,
                    int64_t outputs) {
  return Linear(parameters, name, inputs, outputs, /*with_bias=*/true, usual(inputs));
}

}  // namespace

at::Tensor UNet::Attention::operator()(const at::Tensor& x) const {
  if (!present) return x;
  const auto seen = attention(norm(x, After::nothing).flatten(1, 2), /*bias=*/{}, Kernels::planned);
  return joined(x, seen.y.view(x.sizes()), seen.bias);
}

UNet::Stage UNet::make_stage(Parameters& parameters, const std::string& name, int64_t blocks,
                             int64_t inputs, bool attends, bool resizes, int64_t stride) const {
  const int64_t width = options_.width;
  Stage stage;
  for (int64_t i = 0; i < blocks; ++i) {
    const std::string place = fmt::format("{}.{}", name, i);
    stage.blocks.emplace_back(parameters, place, inputs, width, 4 * width);
    Attention attention;
    attention.present = attends;
    if (attends) {
      attention.norm = GroupNorm(parameters, place + ".attention_norm", width);
      attention.attention =
          SelfAttention(parameters, place + ".attention", width,
                        std::max<int64_t>(1, width / options_.head_width), usual(width));
    }
    stage.attentions.push_back(std::move(attention));
  }
  if (resizes) stage.resize = Convolution(parameters, name + ".resize", width, width, 3, stride);
  return stage;
}

UNet::UNet(Parameters& parameters, const std::string& name, const UNetOptions& options,
           int64_t inputs, int64_t outputs, int64_t side, int64_t classes)
    : options_(options) {
  const int64_t width = options.width, last = options.stages - 1;
  require_option(width % 2 == 0, "model.width must be even, got {}", width);
  time_in_ = usual_linear(parameters, name + ".time_in", width, 4 * width);
  time_out_ = usual_linear(parameters, name + ".time_out", 4 * width, 4 * width);
  if (classes > 0)
    classes_ = parameters.add(name + ".classes", {classes + 1, 4 * width}, Initial::normal(),
                              Use::network);
  enter_ = Convolution(parameters, name + ".enter", inputs, width);
  enter_norm_ = GroupNorm(parameters, name + ".enter_norm", width);
  for (int64_t stage = 0; stage <= last; ++stage)
    down_.push_back(make_stage(parameters, fmt::format("{}.down.{}", name, stage), options.blocks,
                               width, side >> stage <= options.attention_side, stage < last,
                               /*stride=*/2));
  for (int64_t stage = last; stage >= 0; --stage)
    up_.push_back(make_stage(parameters, fmt::format("{}.up.{}", name, stage), options.blocks + 1,
                             2 * width, side >> stage <= options.attention_side, stage > 0,
                             /*stride=*/1));
  leave_norm_ = GroupNorm(parameters, name + ".leave_norm", width);
  leave_ = Convolution(parameters, name + ".leave", width, outputs, 3, 1, Convolution::kNearZero);
}

at::Tensor UNet::operator()(const at::Tensor& x, const at::Tensor& time, const at::Tensor& classes,
                            Mode mode) const {
  at::Tensor told = time_out_(at::silu(time_in_(time_embedding(time, options_.width))));
  if (classes_.defined()) told = told + at::embedding(*classes_, classes);
  told = at::silu(told);

  const auto entered = enter_.without_bias(x);
  at::Tensor h = enter_norm_(entered.y, After::nothing, /*film=*/{}, entered.bias);
  std::vector<at::Tensor> passed{h};
  for (const Stage& stage : down_) {
    for (size_t i = 0; i < stage.blocks.size(); ++i) {
      h = stage.blocks[i](h, told, options_.dropout, mode);
      passed.push_back(h);
      h = stage.attentions[i](h);
    }
    if (!stage.resize.weight.defined()) continue;
    h = stage.resize(h);
    passed.push_back(h);
  }
  for (const Stage& stage : up_) {
    for (size_t i = 0; i < stage.blocks.size(); ++i) {
      h = stage.blocks[i](at::cat({h, passed.back()}, -1), told, options_.dropout, mode);
      passed.pop_back();
      h = stage.attentions[i](h);
    }
    if (stage.resize.weight.defined()) h = stage.resize(doubled(h));
  }
  return leave_(leave_norm_(h, After::silu)).to(at::kFloat);
}

void UNet::check_size(const UNetOptions& options, int64_t height, int64_t width) {
  const int64_t unit = int64_t{1} << (options.stages - 1);
  require_option(height % unit == 0 && width % unit == 0,
                 "pictures of {} x {} cannot be halved {} times: lower model.stages (now {})",
                 width, height, options.stages - 1, options.stages);
}

}  // namespace tessera::nn
