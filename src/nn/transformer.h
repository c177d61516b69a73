#pragma once

#include "nn/attention.h"

#include <tessera/base/enum_names.h>

#include <memory>
#include <vector>

namespace tessera::nn {

class Int8Transformer;

// Where a layer normalises: the sum of a part's input and output (as in the first Transformer), or
// the part's input.
enum class NormPlace { post, pre };

enum class Activation { relu, gelu };

struct TransformerOptions {
  int64_t width = 512;
  int64_t feedforward = 1024;  // width of the hidden layer between two attentions
  int64_t heads = 4;
  int64_t layers = 6;
  double dropout = 0.3;
  NormPlace norm = NormPlace::post;
  Activation activation = Activation::relu;
};

// A stack of layers. Each has self-attention, in a decoder also attention to a memory, and two
// linear layers; each of these has dropout, a residual connection and normalisation.
class Transformer {
 public:
  enum class Kind { encoder, decoder };

  Transformer(Parameters& parameters, const std::string& name, Kind kind,
              const TransformerOptions& options);

  // The memory of every layer of a decoder.   encoded [B, S, width]
  std::vector<Memory> memories(const at::Tensor& encoded) const;

  //   x            [B * n, L, width]
  //   bias         [B * n, 1, 1 or L, L]   see key_bias()
  //   memories     for a decoder, [B, ...]; memory_bias [B, 1, 1, S]
  //   returns      [B * n, L, width]
  at::Tensor operator()(at::Tensor x, const at::Tensor& bias, const std::vector<Memory>& memories,
                        const at::Tensor& memory_bias, Mode mode) const;

  // One position of sequences that are read from left to right. The cache, made by cache(), holds
  // the positions before.   x [B * n, 1, width]
  at::Tensor step(at::Tensor x, KeyCache& cache, const std::vector<Memory>& memories,
                  const at::Tensor& memory_bias) const;

  // For `rows` sequences of at most `room` positions.
  KeyCache cache(int64_t rows, int64_t room) const;

  // To be called when weights in int8 are there: computes with kernels made for them from then on.
  void use_int8();

 private:
  struct Layer {
    SelfAttention self;
    LayerNorm self_norm;
    CrossAttention cross;  // only in a decoder
    LayerNorm cross_norm;
    Linear up, down;
    LayerNorm feedforward_norm;
  };

  // Runs the layers one after the other. attend_to_itself(number of the layer, x) is the part in
  // which the callers differ.
  template <class Attention>
  at::Tensor run(at::Tensor x, const Attention& attend_to_itself,
                 const std::vector<Memory>& memories, const at::Tensor& memory_bias,
                 Mode mode) const;

  TransformerOptions options_;
  std::vector<Layer> layers_;
  LayerNorm last_norm_;  // only with NormPlace::pre
  std::shared_ptr<const Int8Transformer> int8_;
};

}  // namespace tessera::nn

template <>
struct tessera::EnumNames<tessera::nn::NormPlace> {
  using Place = tessera::nn::NormPlace;
  static constexpr std::string_view what = "place of normalisation";
  static constexpr std::array<std::pair<Place, std::string_view>, 2> values{
      {{Place::post, "post"}, {Place::pre, "pre"}}};
};
template <>
struct tessera::EnumNames<tessera::nn::Activation> {
  using Activation = tessera::nn::Activation;
  static constexpr std::string_view what = "activation";
  static constexpr std::array<std::pair<Activation, std::string_view>, 2> values{
      {{Activation::relu, "relu"}, {Activation::gelu, "gelu"}}};
};
