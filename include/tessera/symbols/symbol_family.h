#pragma once

#include <tessera/base/api.h>
#include <tessera/process/family.h>
#include <tessera/symbols/symbol_objective.h>
#include <tessera/symbols/symbol_process.h>

namespace tessera {

struct SymbolFamilyOptions {
  SymbolProcessOptions process = {};
  SymbolObjectiveOptions objective = {};
  bool told_time = true;  // whether the network is told the time
};

// Diffusion of symbols themselves: noise covers or replaces them, and a network that reads their
// codes says what they were. D3PM, SEDD, MDLM, UDLM and others are settings of it.
class TESSERA_API SymbolFamily final : public Family {
 public:
  //   mask  the symbol of the codebook whose code stands for a mask; it must not be decodable.
  //         -1: there is none, and noise cannot cover symbols
  // Throws UsageError for options that make no sense.
  SymbolFamily(const Codebook& codebook, const SymbolFamilyOptions& options, int64_t mask);

  double horizon() const override { return process_.horizon(); }
  std::string summary() const override;
  Draws draw(const TrainingStreams& streams, const at::Tensor& samples,
             at::IntArrayRef elements) const override;
  Corrupted corrupt(const at::Tensor& labels, const Draws& draws) const override;
  FamilyLoss loss(const Corrupted& corrupted, const at::Tensor& output, const at::Tensor& labels,
                  const at::Tensor& mask) const override;
  // bound          upper bound of -log p of the data, nats per symbol
  // cross_entropy  of x0 at every position
  // noised         share of the symbols that noise has changed
  std::span<const std::string_view> measures() const override;
  Sample reverse(const Denoiser& network, const at::Tensor& samples, at::IntArrayRef elements,
                 const SamplerOptions& options, const StepCallback& callback = {},
                 const at::Tensor& seeds = {}, const at::Tensor& present = {}) const override;
  int64_t calls(const SamplerOptions& options) const override;
  bool draws_symbols() const override { return true; }
  // Not for one_jump, where the network sees the state after a jump.
  bool has_bound() const override { return options_.objective.target != SymbolTarget::one_jump; }
  at::Tensor bound(const Corrupted& corrupted, const at::Tensor& output,
                   const at::Tensor& labels) const override;

  const SymbolProcess& symbol_process() const { return process_; }

 private:
  at::Tensor codes_of(const at::Tensor& states) const;   // [...] -> [..., d]
  at::Tensor labels_of(const at::Tensor& states) const;  // [...] symbols of the codebook
  at::Tensor told(const at::Tensor& t) const;            // what the network is told of a time
  SymbolPrediction prediction(const at::Tensor& output, const at::Tensor& labels) const;

  SymbolFamilyOptions options_;
  SymbolProcess process_;
  int64_t mask_;
};

}  // namespace tessera
