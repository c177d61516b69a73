#pragma once

#include <tessera/base/api.h>
#include <tessera/base/enum_names.h>
#include <tessera/files/safetensors.h>
#include <tessera/process/codebook.h>
#include <tessera/process/sampler.h>
#include <tessera/tensor/random.h>

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tessera {

// Where the random numbers of a training step come from.
struct TrainingStreams {
  StreamId noise;  // of elements
  StreamId time;   // of samples
};

// The random numbers of a training step, drawn before it. Only the family knows what they mean.
using Draws = std::vector<at::Tensor>;

// Noisy symbols, as a network sees them.
struct Corrupted {
  at::Tensor input;                // [B, ..., d]  points
  at::Tensor time;                 // [B]          in [0, T]; networks are told network_time(time)
  std::vector<at::Tensor> hidden;  // what else the family's loss needs
};

struct FamilyLoss {
  at::Tensor total;                   // scalar, carries the gradient
  at::Tensor measures;                // [n] float32, without a gradient: what measures() names
  std::vector<at::Tensor> seen = {};  // what the family's observe() needs
};

// Which passes count in the loss if the network sees an estimate of its own.
enum class ConditionLoss {
  second,  // the one that sees it; the first has no gradient
  both,    // the sum of both, each with its gradient
};

template <>
struct EnumNames<ConditionLoss> {
  static constexpr std::string_view what = "loss of self-conditioning";
  static constexpr std::array<std::pair<ConditionLoss, std::string_view>, 2> values{
      {{ConditionLoss::second, "second"}, {ConditionLoss::both, "both"}}};
};

// A kind of diffusion: what noise does to symbols, what a network learns from it, and how noise is
// undone. A family knows the codes of symbols, but no network and no data, so that every family
// works with every network. Symbols have any shape [B, ...].
class TESSERA_API Family {
 public:
  // The codebook must outlive it.
  explicit Family(const Codebook& codebook) : codebook_(&codebook) {}
  virtual ~Family() = default;
  Family(const Family&) = delete;
  Family& operator=(const Family&) = delete;

  const Codebook& codebook() const { return *codebook_; }

  virtual double horizon() const = 0;       // T: times are in [0, T]
  virtual std::string summary() const = 0;  // in a few words, for model cards

  // The random numbers of a step, as functions of (stream, sample). Equal arguments give equal
  // shapes, because recorded kernels read them.
  //   samples   [B] int64: the number of every sample
  //   elements  shape of the symbols of one sample
  virtual Draws draw(const TrainingStreams& streams, const at::Tensor& samples,
                     at::IntArrayRef elements) const = 0;

  // The forward process.   labels [B, ...] int64
  virtual Corrupted corrupt(const at::Tensor& labels, const Draws& draws) const = 0;

  // What a network is taught.
  //   output  [B, ..., codebook().output_dim()]  its estimate, which the codebook can score
  //   mask    [B, ...]     bool (true: counts), or undefined: all count
  virtual FamilyLoss loss(const Corrupted& corrupted, const at::Tensor& output,
                          const at::Tensor& labels, const at::Tensor& mask) const = 0;
  virtual std::span<const std::string_view> measures() const = 0;

  // What self-conditioning shows a network of its last output.
  virtual at::Tensor shown(const at::Tensor& output) const { return output; }

  // The reverse process: makes samples from noise, which is a function of (seed, sample). Without
  // gradients.
  //   seeds    [B] int64: of every sample; undefined: options.seed for all
  //   present  [B, ...] bool: elements to make; others get arbitrary symbols. Undefined: all
  virtual Sample reverse(const Denoiser& network, const at::Tensor& samples,
                         at::IntArrayRef elements, const SamplerOptions& options,
                         const StepCallback& callback = {}, const at::Tensor& seeds = {},
                         const at::Tensor& present = {}) const = 0;
  // Calls of the network that reverse() makes. Throws UsageError for options that make no sense.
  virtual int64_t calls(const SamplerOptions& options) const = 0;

  // Whether reverse() draws symbols one by one, by their probabilities, instead of moving points.
  virtual bool draws_symbols() const { return false; }

  // An unbiased estimate of the negative bound of the log-likelihood, for families that have one:
  // nats per element, 0 for labels that cannot be decoded.   -> [B, ...]
  virtual bool has_bound() const { return false; }
  virtual at::Tensor bound(const Corrupted& corrupted, const at::Tensor& output,
                           const at::Tensor& labels) const;

  // State beside the network's weights, for families that learn something during training
  // themselves. observe() takes what a loss has seen; it is called in training only, inside the
  // part that is recorded. updated() is called before every update, with the number of updates
  // made. state() has, by name, what is needed to continue training and to generate; restore()
  // takes it back, from tensors whose names begin with a prefix.
  virtual void observe(const FamilyLoss& /*loss*/) {}
  virtual void updated(int64_t /*updates*/) {}
  virtual safetensors::Tensors state() const { return {}; }
  virtual void restore(const safetensors::File& /*file*/, const std::string& /*prefix*/) {}

  // The paths from codes to noise, for families that have them: statistics and pictures of the
  // boundary are made from them.
  virtual const Process* process() const { return nullptr; }

 private:
  const Codebook* codebook_;
};

// Makes a family over a codebook, which must outlive it.
using FamilyMaker = std::function<std::unique_ptr<Family>(const Codebook& codebook)>;

// Algorithm 1 of the paper, for any family and any network: symbols are corrupted, the network
// estimates them, the family says what the estimate lacks.
//   labels, mask      as Family::loss() takes them
//   self_conditioned  how many samples, from the first on, see an estimate of the network's own,
//                     which it makes first: from these rows alone, without a gradient
//   of                with ConditionLoss::both, self_conditioned must be 0 or B, and the first
//                     pass has a gradient, too
TESSERA_API FamilyLoss training_loss(const Family& family, const Denoiser& network,
                                     const at::Tensor& labels, const at::Tensor& mask,
                                     const Draws& draws, int64_t self_conditioned,
                                     ConditionLoss of = ConditionLoss::second);

}  // namespace tessera
