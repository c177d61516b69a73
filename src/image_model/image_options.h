#pragma once

#include "config/config.h"
#include "nn/unet.h"

#include <tessera/codebook/bits.h>
#include <tessera/codebook/pixel_values.h>
#include <tessera/process/objective.h>
#include <tessera/process/process.h>
#include <tessera/process/sampler.h>
#include <tessera/symbols/symbol_family.h>

namespace tessera::image_model {

// How a symbol of an image is coded: the value of a sub-pixel (one colour of one pixel), or a code
// of an autoencoder.
enum class Coding {
  bits,       // eight bits of a value, nine of 512 codes; squared error alone
  fixed,      // the same numbers as the code of a symbol; squared error and rounding
  trainable,  // a vector that is trained; squared error and rounding
  pixels,     // the value itself, as in plain continuous diffusion; squared error alone
  values,     // the value itself, as a symbol: diffusion of symbols, set up by the keys symbols.*
  symbols,    // likewise, of symbols without an order: each is read as a vector that is trained
};

// Whether symbols are diffused themselves, and not points that stand for them.
constexpr bool diffuses_symbols(Coding coding) {
  return coding == Coding::values || coding == Coding::symbols;
}

// How trainable codes begin.
enum class CodeStart {
  random,  // as independent random directions
  bits,    // as the eight bits, in the order of the options
};

// What estimates symbols.
enum class ImageNetwork {
  unet,    // nn/unet.h
  hollow,  // hollow_network.h: does not see the symbol that it estimates
};

struct CodingOptions {
  Coding kind = Coding::bits;
  double size = 1.0;                       // of a bit, and the largest value of `pixels`
  BitOrder order = BitOrder::least_first;  // of bits
  bool gray = false;                       // neighbouring values differ in one bit
  int64_t shuffle = 0;                     // above 0: values are permuted first, by this seed
  int64_t latent = 8;                      // width of what is trained, for trainable and symbols
  CodeStart start = CodeStart::random;     // of trainable codes
  ValueHead head = ValueHead::logits;      // of `values`
};

// Everything that defines a model of images; stored beside its weights.
struct ImageModelOptions {
  CodingOptions coding = {};
  ImageNetwork network_kind = ImageNetwork::unet;
  nn::UNetOptions network = {};  // of a hollow network: its width, head_width and dropout
  int64_t layers = 6;            // of a hollow network: of each of its two stacks
  ProcessOptions process = {.trajectory = {.kind = TrajectoryKind::vp_cosine, .horizon = 1000},
                            .r = 0.5};
  ObjectiveOptions objective = {};
  double self_conditioning = 0.5;  // share of every batch that sees an estimate of its own
  bool conditional = false;        // the network is told the class
  double class_dropout = 0.1;      // share of the samples whose class is not told
  SymbolFamilyOptions symbols =
      {};  // for `values` and `symbols`, in place of process and objective
};

// How images are made.
struct SamplingOptions {
  SamplerOptions sampler = {.steps = 100, .boundary_of = BoundaryOf::rounded, .final_call = true};
  double guidance = 1.0;  // 1: as trained; above: classes show more (see ImageModel::denoiser)
  int64_t batch = 500;    // images at a time

  bool operator==(const SamplingOptions&) const = default;
};

// Keys "model.*", "process.*", "objective.*", "symbols.*".
void declare(config::Schema& schema, ImageModelOptions& options);
// Keys "sample.*", "sampler.*".
//   coding  of the images, which decides what is of use; must outlive the schema. None: all is
void declare(config::Schema& schema, SamplingOptions& options, const Coding* coding = nullptr);

}  // namespace tessera::image_model

template <>
struct tessera::EnumNames<tessera::image_model::Coding> {
  using Coding = tessera::image_model::Coding;
  static constexpr std::string_view what = "coding";
  static constexpr std::array<std::pair<Coding, std::string_view>, 6> values{
      {{Coding::bits, "bits"},
       {Coding::fixed, "fixed"},
       {Coding::trainable, "trainable"},
       {Coding::pixels, "pixels"},
       {Coding::values, "values"},
       {Coding::symbols, "symbols"}}};
};

template <>
struct tessera::EnumNames<tessera::image_model::CodeStart> {
  using CodeStart = tessera::image_model::CodeStart;
  static constexpr std::string_view what = "start of codes";
  static constexpr std::array<std::pair<CodeStart, std::string_view>, 2> values{
      {{CodeStart::random, "random"}, {CodeStart::bits, "bits"}}};
};

template <>
struct tessera::EnumNames<tessera::image_model::ImageNetwork> {
  using Network = tessera::image_model::ImageNetwork;
  static constexpr std::string_view what = "network of images";
  static constexpr std::array<std::pair<Network, std::string_view>, 2> values{
      {{Network::unet, "unet"}, {Network::hollow, "hollow"}}};
};
