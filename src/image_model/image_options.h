#pragma once

#include "files/config.h"
#include "nn/unet.h"

#include <tessera/codebook/bits.h>
#include <tessera/codebook/pixel_values.h>
#include <tessera/process/objective.h>
#include <tessera/process/process.h>
#include <tessera/process/sampler.h>
#include <tessera/symbols/symbol_family.h>

namespace tessera::image_model {

// How the value of a sub-pixel (one colour of one pixel) is coded.
enum class Coding {
  bits,       // eight bits; squared error alone
  fixed,      // the same eight numbers as the code of a symbol; squared error and rounding
  trainable,  // a vector that is trained; squared error and rounding
  pixels,     // the value itself, as in plain continuous diffusion; squared error alone
  values,     // the value itself, as a symbol: diffusion of symbols, set up by the keys symbols.*
};

// How trainable codes begin.
enum class CodeStart {
  random,  // as independent random directions
  bits,    // as the eight bits, in the order of the options
};

struct CodingOptions {
  Coding kind = Coding::bits;
  double size = 1.0;                       // of a bit, and the largest value of `pixels`
  BitOrder order = BitOrder::least_first;  // of bits
  bool gray = false;                       // neighbouring values differ in one bit
  int64_t shuffle = 0;                     // above 0: values are permuted first, by this seed
  int64_t latent = 8;                      // width of a trainable code
  CodeStart start = CodeStart::random;     // of trainable codes
  ValueHead head = ValueHead::logits;      // of `values`
};

// Everything that defines a model of images; stored beside its weights.
struct ImageModelOptions {
  CodingOptions coding = {};
  nn::UNetOptions network = {};
  ProcessOptions process = {.trajectory = {.kind = TrajectoryKind::vp_cosine, .horizon = 1000},
                            .r = 0.5};
  ObjectiveOptions objective = {};
  double self_conditioning = 0.5;    // share of every batch that sees an estimate of its own
  bool conditional = false;          // the network is told the class
  double class_dropout = 0.1;        // share of the samples whose class is not told
  SymbolFamilyOptions symbols = {};  // for `values`, in place of process and objective
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
  static constexpr std::array<std::pair<Coding, std::string_view>, 5> values{
      {{Coding::bits, "bits"},
       {Coding::fixed, "fixed"},
       {Coding::trainable, "trainable"},
       {Coding::pixels, "pixels"},
       {Coding::values, "values"}}};
};

template <>
struct tessera::EnumNames<tessera::image_model::CodeStart> {
  using CodeStart = tessera::image_model::CodeStart;
  static constexpr std::string_view what = "start of codes";
  static constexpr std::array<std::pair<CodeStart, std::string_view>, 2> values{
      {{CodeStart::random, "random"}, {CodeStart::bits, "bits"}}};
};
