#include "image_model/image_model.h"

#include "base/require.h"
#include "image_model/pixel_codes.h"
#include "nn/seeded_dropout.h"

#include <tessera/codebook/embedding_table.h>
#include <tessera/process/boundary_family.h>
#include <tessera/symbols/symbol_family.h>

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <cmath>

namespace tessera::image_model {
namespace {

constexpr int64_t kGrey = 128;            // what masks of values look like
constexpr int64_t kDecodedAtATime = 128;  // pictures

ImageModelOptions checked(ImageModelOptions options, const ImageShape& shape, int64_t classes,
                          const Autoencoder* decoder) {
  check_size(shape);
  if (options.network_kind == ImageNetwork::unet)
    nn::UNet::check_size(options.network, shape.height, shape.width);
  const Coding coding = options.coding.kind;
  if (decoder == nullptr) {
    require_option(shape.symbols == kValues,
                   "symbols of {} kinds are codes, and need the autoencoder that made them",
                   shape.symbols);
  } else {
    const ImageShape grid = decoder->grid();
    require_option(shape == grid,
                   "the codes are {} x {} of {} kinds, those of the autoencoder {} x {} of {}",
                   shape.width, shape.height, shape.symbols, grid.width, grid.height, grid.symbols);
    require_option(coding != Coding::pixels && coding != Coding::values,
                   "model.coding = \"{}\" reads symbols as numbers in an order, and codes of an "
                   "autoencoder have none: take \"symbols\", or \"bits\", \"fixed\" or "
                   "\"trainable\" for diffusion of points",
                   name_of(coding));
  }
  require_option(coding != Coding::pixels || options.process.r == 0,
                 "model.coding = \"pixels\" is plain continuous diffusion: it needs process.r = 0, "
                 "got {}",
                 options.process.r);
  if (coding == Coding::trainable && options.coding.start == CodeStart::bits)
    require_option(options.coding.latent == bits_for(shape.symbols),
                   "model.codes_start = \"bits\" needs model.latent = {}, got {}",
                   bits_for(shape.symbols), options.coding.latent);
  require_option(!diffuses_symbols(coding) || options.self_conditioning == 0,
                 "model.coding = \"{}\" has no self-conditioning: set "
                 "model.self_conditioning = 0",
                 name_of(coding));
  require_option(!options.conditional || classes > 0,
                 "model.conditional needs images with classes, and these have none");
  if (coding == Coding::bits || coding == Coding::pixels)
    options.objective.cross_entropy_weight = 0;
  return options;
}

bool masks(const ImageModelOptions& options) {
  return diffuses_symbols(options.coding.kind) && has_mask(options.symbols.process);
}

std::unique_ptr<Family> family_of(const Codebook& codebook, const ImageModelOptions& options) {
  if (diffuses_symbols(options.coding.kind))
    return std::make_unique<SymbolFamily>(codebook, options.symbols,
                                          masks(options) ? codebook.decodable() : -1);
  // Trained codes have no largest coordinate.
  const double clip = options.coding.kind == Coding::trainable ? 0 : options.coding.size;
  return std::make_unique<BoundaryFamily>(
      codebook, BoundaryFamilyOptions{options.process, options.objective, Estimate::raw, clip});
}

}  // namespace

ImageModel::ImageModel(const ImageModelOptions& options, const ImageShape& shape, int64_t classes,
                       at::Device device, nn::Precision precision, const nn::Start& start,
                       const FamilyMaker& family, std::shared_ptr<const Autoencoder> decoder)
    : options_(checked(options, shape, classes, decoder.get())),
      shape_(shape),
      classes_(options.conditional ? classes : 0),
      decoder_(std::move(decoder)) {
  const CodingOptions& coding = options_.coding;
  const bool mask = masks(options_);
  if (coding.kind == Coding::trainable || coding.kind == Coding::symbols)
    codes_ = parameters_.add("codes", {shape.symbols + (mask ? 1 : 0), coding.latent},
                             nn::Initial::normal(1.0), nn::Use::codes);
  // Diffusion of points also reads the previous estimate (self-conditioning).
  const CodeWidths widths = code_widths(coding, shape.symbols, mask);
  const int64_t read = of_symbols() ? widths.input : widths.input + widths.output;
  const nn::UNetOptions& network = options_.network;
  if (options_.network_kind == ImageNetwork::hollow)
    network_.emplace<HollowNetwork>(
        parameters_, "hollow",
        HollowOptions{network.width, options_.layers, network.head_width, network.dropout}, shape,
        read, widths.output, classes_);
  else
    network_ = nn::UNet(parameters_, "unet", network, shape.channels * read,
                        shape.channels * widths.output, shape.height, classes_);
  parameters_.allocate(device, precision, start);
  // Without a gradient: autograd would tie the codes to the stream that is current now.
  const c10::NoGradGuard no_grad;
  if (coding.kind == Coding::trainable && coding.start == CodeStart::bits &&
      start.weights() == nullptr)
    codes_->copy_(bits_of_symbols(coding, shape.symbols, device));
  codebook_ =
      pixel_codes(coding, shape.symbols, codes_.defined() ? *codes_ : at::Tensor(), device, mask);
  if (coding.kind == Coding::trainable)
    trained_codes_ = static_cast<EmbeddingTable*>(codebook_.get());
  family_ = family ? family(*codebook_) : family_of(*codebook_, options_);
}

ImageModel::~ImageModel() = default;

const ImageShape& ImageModel::picture_shape() const {
  return decoder_ ? decoder_->shape() : shape_;
}

at::Tensor ImageModel::pictures_of(const at::Tensor& labels) const {
  const auto planes = [](const at::Tensor& rows) {
    return rows.to(at::kByte).permute({0, 3, 1, 2}).contiguous().cpu();
  };
  if (!decoder_) return planes(labels.masked_fill(labels.ge(kValues), kGrey));
  std::vector<at::Tensor> parts;
  for (const at::Tensor& some : labels.split(kDecodedAtATime))
    parts.push_back(planes(decoder_->decode(some)));
  return at::cat(parts);
}

void ImageModel::refresh() {
  parameters_.publish();
  const c10::NoGradGuard no_grad;
  if (trained_codes_ != nullptr) trained_codes_->refresh();
}

at::Tensor ImageModel::no_classes(int64_t rows) const {
  if (classes_ == 0) return {};
  return at::full({rows}, classes_, at::TensorOptions().dtype(at::kLong).device(device()));
}

int64_t ImageModel::variant(double /*chance*/) const {
  return options_.self_conditioning > 0 ? 1 : 0;
}

Draws ImageModel::draw_for(const nn::Inputs& inputs, const TrainingStreams& streams) const {
  const at::Tensor samples =
      at::arange(inputs.at(0).size(0), at::TensorOptions().device(device()).dtype(at::kLong));
  return family_->draw(streams, samples, {shape_.height, shape_.width, shape_.channels});
}

at::Tensor ImageModel::estimate(const at::Tensor& x, const at::Tensor& time,
                                const at::Tensor& previous, const at::Tensor& classes,
                                nn::Mode mode) const {
  const at::Tensor told = network_time(time, family_->horizon());
  const at::Tensor read =
      of_symbols() ? x.flatten(3) : at::cat({x.flatten(3), previous.flatten(3)}, -1);
  std::vector<int64_t> shape = x.sizes().vec();
  shape.back() = codebook_->output_dim();
  const at::Tensor output =
      std::visit([&](const auto& network) { return network(read, told, classes, mode); }, network_)
          .view(shape);
  if (options_.coding.kind != Coding::values || options_.coding.head == ValueHead::logits)
    return output;
  // The network gives the mean of a logistic distribution as a change of the current value.
  return at::stack({at::tanh(x.select(-1, 0) + output.select(-1, 0)), output.select(-1, 1)}, -1);
}

nn::TrainingLoss ImageModel::loss_of(const nn::Inputs& inputs, const Draws& draws, int64_t variant,
                                     nn::Mode mode) {
  if (trained_codes_ != nullptr) trained_codes_->refresh();  // with a gradient
  const at::Tensor labels = inputs.at(0).to(at::kLong);
  const int64_t rows = labels.size(0);
  at::Tensor classes;
  if (classes_ > 0) {
    classes = inputs.at(1);
    if (mode == nn::Mode::training && options_.class_dropout > 0) {
      const at::Tensor chance =
          at::rand({rows}, nn::SeededDropout::generator(device()), parameters_.values().options());
      classes = classes.masked_fill(chance.lt(options_.class_dropout), classes_);
    }
  }
  const Denoiser network = [&](const at::Tensor& x, const at::Tensor& t,
                               const at::Tensor& previous) {
    const at::Tensor told = classes.defined() ? classes.narrow(0, 0, x.size(0)) : classes;
    return estimate(x, t, previous, told, mode);
  };
  const auto self_conditioned =
      variant == 1 ? static_cast<int64_t>(std::ceil(options_.self_conditioning * rows)) : 0;
  const FamilyLoss learnt =
      training_loss(*family_, network, labels, /*mask=*/{}, draws, self_conditioned);
  const at::Tensor elements =
      at::full({}, static_cast<double>(rows), learnt.measures.options().dtype(at::kFloat));
  return {learnt.total, learnt.measures, elements};
}

Denoiser ImageModel::denoiser(const at::Tensor& classes, double guidance) const {
  require_option(!classes.defined() || classes_ > 0,
                 "this model was not trained with classes (model.conditional)");
  return [this, classes, guidance](const at::Tensor& x, const at::Tensor& t,
                                   const at::Tensor& previous) {
    const int64_t rows = x.size(0);
    if (!classes.defined() || guidance == 1)
      return estimate(x, t, previous, classes.defined() ? classes : no_classes(rows),
                      nn::Mode::inference);
    const auto twice = [](const at::Tensor& each) { return at::cat({each, each}); };
    const auto both = estimate(twice(x), twice(t), twice(previous),
                               at::cat({classes, no_classes(rows)}), nn::Mode::inference)
                          .chunk(2);
    return at::lerp(both[1], both[0], guidance);
  };
}

}  // namespace tessera::image_model
