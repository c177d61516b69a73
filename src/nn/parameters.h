#pragma once

#include "kernels/int8_matrix.h"
#include "nn/precision.h"

#include <tessera/files/safetensors.h>

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace tessera::nn {

// How a weight is initialised.
struct Initial {
  enum class Kind { zeros, ones, normal } kind = Kind::normal;
  double deviation = 0.02;  // standard deviation, for Kind::normal

  static Initial zeros() { return {Kind::zeros, 0}; }
  static Initial ones() { return {Kind::ones, 0}; }
  static Initial normal(double deviation = 0.02) { return {Kind::normal, deviation}; }
};

// Where the first weights of a network come from: drawn from a seed, to be trained, or stored ones.
class Start {
 public:
  Start(uint64_t seed) : seed_(seed) {}
  Start(const safetensors::File& weights) : weights_(&weights) {}  // must outlive this object

  uint64_t seed() const { return seed_; }
  const safetensors::File* weights() const { return weights_; }  // nullptr: drawn from a seed

 private:
  uint64_t seed_ = 0;
  const safetensors::File* weights_ = nullptr;
};

// What a weight is used for.
enum class Use {
  network,  // used in the network's precision; in float32 if that is int8
  product,  // the same for an operand of products [outputs, inputs], rounded to 8 bits in int8
  codes,    // always float32
};

// A weight of a network, as the layers hold it. Valid as long as its Parameters are.
class Weight {
 public:
  Weight() = default;
  using Rounded = std::unique_ptr<const kernels::Int8Matrix>;
  Weight(const at::Tensor* leaf, const Rounded* rounded) : leaf_(leaf), rounded_(rounded) {}

  const at::Tensor& operator*() const { return *leaf_; }
  const at::Tensor* operator->() const { return leaf_; }
  bool defined() const { return leaf_ != nullptr; }
  // The weight in 8 bits; nullptr if products are computed in another precision.
  const kernels::Int8Matrix* rounded() const { return rounded_->get(); }

 private:
  const at::Tensor* leaf_ = nullptr;
  const Rounded* rounded_ = nullptr;
};

// The weights of a network: one float32 buffer, of which every weight is a view. So clipping, AdamW
// and the moving average are one operation each, whatever the number of layers. If products are
// computed in bfloat16, a second buffer holds their operands, and publish() fills it.
//
// Layers call add() while they are built; allocate() ends that.
class Parameters {
 public:
  Parameters() = default;
  Parameters(const Parameters&) = delete;
  Parameters& operator=(const Parameters&) = delete;

  // Throws Error for a shape that no weight can have.
  Weight add(std::string name, std::vector<int64_t> shape, const Initial& initial, Use use);

  // Makes the buffers and fills in the first weights. A drawn weight depends on the seed and on its
  // place in the order of add(), not on the device. Throws Error before it allocates anything if
  // stored weights do not fit, or if the machine has too little memory: for training if weights are
  // drawn, for use if they are stored. In int8 they are for use only.
  void allocate(at::Device device, Precision precision, const Start& start);

  int64_t count() const { return count_; }  // numbers in all weights
  at::Device device() const { return values_.device(); }
  Precision precision() const { return precision_; }

  // All weights, one after the other in float32, and their gradients after collect_gradients().
  // Every weight begins at a multiple of 8; zeros fill the gaps.
  const at::Tensor& values() const { return values_; }
  const at::Tensor& gradients() const { return gradients_; }

  // To be called after values() have changed.
  void publish();

  // To be called after every backward(): adds the new gradients of the weights to those gathered so
  // far, in few operations for all of them.
  void gather_gradients();

  // Adds what was gathered in bfloat16 to gradients(), in float32. Then they are complete.
  void collect_gradients();
  void zero_gradients();  // after they are complete

  // The single weights as views of a buffer like values(), by name.
  std::map<std::string, at::Tensor> named(const at::Tensor& buffer) const;

  // Names of the weights of a use.
  std::set<std::string> names_of(Use use) const;

  // Fills a buffer like values() from named tensors, among them rounded ones (RoundedWeight).
  // Throws Error that names what is missing, left over or of another shape.
  void read(const safetensors::File& file, const std::string& prefix,
            const at::Tensor& buffer) const;

 private:
  struct Entry {
    std::string name;
    std::vector<int64_t> shape;
    Initial initial;
    Use use;
    int64_t offset = 0, size = 0;
    at::Tensor leaf;
    Weight::Rounded rounded;
  };

  at::Tensor view(const at::Tensor& buffer, const Entry& entry) const;
  static Weight::Rounded rounded(const Entry& entry, const Start& start);
  void check_memory(at::Device device, bool trained) const;
  void draw(const at::Tensor& buffer, uint64_t seed) const;
  // Throws Error that names what of a file is missing, left over or of another shape.
  void check_fit(const safetensors::File& file, const std::string& prefix) const;

  std::deque<Entry> entries_;  // a deque: Weight points into it
  Precision precision_ = Precision::float32;
  int64_t count_ = 0;
  int64_t room_ = 0;     // size of the buffer, with the zeros between weights
  int64_t network_ = 0;  // size of the part before the codes
  at::Tensor values_, gradients_;
  at::Tensor low_values_, low_gradients_;  // [network_] bfloat16, or undefined
};

}  // namespace tessera::nn
