#include "image_model/autoencoder.h"

#include "base/require.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>

#include <array>

namespace tessera::image_model {
namespace {

constexpr std::array<std::string_view, 4> kMeasures{"error", "commitment", "used", "perplexity"};
constexpr double kMiddle = (kValues - 1) / 2.0;

ImageShape checked(const ImageShape& shape, const AutoencoderOptions& options) {
  check_size(shape);
  require_option(shape.symbols == kValues,
                 "an autoencoder reads pixels, and these are codes of another");
  const int64_t unit = int64_t{1} << options.halvings;
  require_option(shape.height % unit == 0 && shape.width % unit == 0,
                 "pictures of {} x {} cannot be halved {} times: lower model.halvings", shape.width,
                 shape.height, options.halvings);
  return shape;
}

at::Tensor on_line(const at::Tensor& pictures) {
  return pictures.to(at::kFloat).div(kMiddle).sub(1);
}

}  // namespace

at::Tensor usage_perplexity(const at::Tensor& counts) {
  const at::Tensor shares = counts.to(at::kFloat) / counts.sum().clamp_min(1);
  return at::xlogy(shares, shares).sum().neg().exp();
}

std::vector<Autoencoder::Stage> Autoencoder::make_stages(const std::string& name, int64_t stride) {
  std::vector<Stage> stages(static_cast<size_t>(options_.halvings) + 1);
  for (size_t k = 0; k < stages.size(); ++k) {
    const std::string place = fmt::format("{}.{}", name, k);
    for (int64_t i = 0; i < options_.blocks; ++i)
      stages[k].blocks.emplace_back(parameters_, fmt::format("{}.{}", place, i), options_.width,
                                    options_.width);
    if (k + 1 < stages.size())
      stages[k].resize = nn::Convolution(parameters_, place + ".resize", options_.width,
                                         options_.width, 3, stride);
  }
  return stages;
}

Autoencoder::Autoencoder(const AutoencoderOptions& options, const ImageShape& shape,
                         double variance, at::Device device, nn::Precision precision,
                         const nn::Start& start)
    : options_(options),
      shape_(checked(shape, options)),
      variance_(variance),
      quantiser_(options.quantiser, device) {
  const int64_t width = options.width, numbers = options.quantiser.width;
  enter_ = nn::Convolution(parameters_, "enter", shape.channels, width);
  in_ = make_stages("in", /*stride=*/2);
  points_norm_ = nn::GroupNorm(parameters_, "points_norm", width);
  to_points_ = nn::Convolution(parameters_, "to_points", width, numbers, 1);
  from_points_ = nn::Convolution(parameters_, "from_points", numbers, width, 1);
  out_ = make_stages("out", /*stride=*/1);
  leave_norm_ = nn::GroupNorm(parameters_, "leave_norm", width);
  leave_ = nn::Convolution(parameters_, "leave", width, shape.channels);
  parameters_.allocate(device, precision, start);
}

ImageShape Autoencoder::grid() const {
  return {.channels = 1,
          .height = shape_.height >> options_.halvings,
          .width = shape_.width >> options_.halvings,
          .symbols = options_.quantiser.codes};
}

std::span<const std::string_view> Autoencoder::measures() const {
  return kMeasures;
}

at::Tensor Autoencoder::points_of(const at::Tensor& values) const {
  at::Tensor h = enter_(values);
  for (const Stage& stage : in_) {
    for (const nn::ResidualBlock& block : stage.blocks)
      h = block(h, /*told=*/{}, /*dropout=*/0, nn::Mode::inference);
    if (stage.resize.weight.defined()) h = stage.resize(h);
  }
  return to_points_(points_norm_(h, nn::After::silu)).to(at::kFloat);
}

at::Tensor Autoencoder::values_of(const at::Tensor& points) const {
  at::Tensor h = from_points_(points);
  for (const Stage& stage : out_) {
    for (const nn::ResidualBlock& block : stage.blocks)
      h = block(h, /*told=*/{}, /*dropout=*/0, nn::Mode::inference);
    if (stage.resize.weight.defined()) h = stage.resize(nn::doubled(h));
  }
  return leave_(leave_norm_(h, nn::After::silu)).to(at::kFloat);
}

at::Tensor Autoencoder::encode(const at::Tensor& pictures) const {
  const c10::NoGradGuard no_grad;
  return quantiser_.nearest(points_of(on_line(pictures))).unsqueeze(-1);
}

at::Tensor Autoencoder::decode(const at::Tensor& labels) const {
  const c10::NoGradGuard no_grad;
  const at::Tensor squares = labels.squeeze(-1);
  const int64_t codes = options_.quantiser.codes;
  const at::Tensor none = squares.lt(0).logical_or(squares.ge(codes)).unsqueeze(-1);
  const at::Tensor points =
      at::where(none, quantiser_.mean(), quantiser_.codes_of(squares.clamp(0, codes - 1)));
  return values_of(points).add(1).mul(kMiddle).round().clamp(0, kValues - 1).to(at::kByte);
}

Draws Autoencoder::draw_for(const nn::Inputs& /*inputs*/, const TrainingStreams& streams) const {
  const at::Tensor codes =
      at::arange(options_.quantiser.codes, at::TensorOptions().dtype(at::kLong).device(device()));
  return {random_uniform(streams.noise, codes, {})};
}

nn::TrainingLoss Autoencoder::loss_of(const nn::Inputs& inputs, const Draws& draws,
                                      int64_t /*variant*/, nn::Mode mode) {
  const at::Tensor values = on_line(inputs.at(0));
  const at::Tensor points = points_of(values);
  const at::Tensor rows = points.detach().reshape({-1, options_.quantiser.width});
  if (mode == nn::Mode::training) quantiser_.restart(rows, draws.at(0));
  const at::Tensor labels = quantiser_.nearest(rows);
  const at::Tensor codes = quantiser_.codes_of(labels).view_as(points);
  if (mode == nn::Mode::training) quantiser_.learn(rows, labels);

  const at::Tensor made = values_of(straight_through(points, codes));
  const at::Tensor error = (made - values).square().mean();
  const at::Tensor commitment = (points - codes).square().mean();
  nn::TrainingLoss loss;
  loss.total = error / variance_ + options_.commitment * commitment;

  const c10::NoGradGuard no_grad;
  const at::Tensor all = at::arange(options_.quantiser.codes, labels.options());
  const at::Tensor counts = labels.unsqueeze(1).eq(all).sum(0);
  const at::Tensor used = counts.gt(0).to(at::kFloat).mean();
  loss.measures = at::stack({error.detach(), commitment.detach(), used, usage_perplexity(counts)});
  loss.elements = at::full({}, static_cast<double>(values.size(0)), values.options());
  return loss;
}

}  // namespace tessera::image_model
