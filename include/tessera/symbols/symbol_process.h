#pragma once

#include <tessera/base/api.h>
#include <tessera/base/enum_names.h>
#include <tessera/symbols/matrix_kernel.h>
#include <tessera/symbols/noise_kernel.h>
#include <tessera/symbols/survival.h>
#include <tessera/tensor/random.h>

#include <memory>

namespace tessera {

// What noise does to a symbol.
enum class SymbolNoise {
  absorbing,    // covers it with a mask
  uniform,      // puts any symbol in its place
  gaussian,     // for ordered values: puts a close one in its place (D3PM)
  target_rate,  // likewise, in continuous time, until all are about equally likely (tauLDR)
};

// What the last step, from t = 1 to 0, is taught if time has steps.
enum class FirstTerm {
  estimate,  // the network's distribution of x0 as it is
  reverse,   // the distribution of a reverse step to time 0
};

template <>
struct EnumNames<SymbolNoise> {
  static constexpr std::string_view what = "noise of symbols";
  static constexpr std::array<std::pair<SymbolNoise, std::string_view>, 4> values{
      {{SymbolNoise::absorbing, "absorbing"},
       {SymbolNoise::uniform, "uniform"},
       {SymbolNoise::gaussian, "gaussian"},
       {SymbolNoise::target_rate, "target-rate"}}};
};
template <>
struct EnumNames<FirstTerm> {
  static constexpr std::string_view what = "first term";
  static constexpr std::array<std::pair<FirstTerm, std::string_view>, 2> values{
      {{FirstTerm::estimate, "estimate"}, {FirstTerm::reverse, "reverse"}}};
};

struct SymbolProcessOptions {
  SymbolNoise noise = SymbolNoise::absorbing;
  SurvivalOptions survival = {};
  bool continuous = true;       // t is any time, not 1 .. T
  bool low_discrepancy = true;  // times of a batch are spread evenly
  double min_time = 1e-3;       // continuous: the earliest time, as a share of T
  Reverse reverse = Reverse::plug_in;
  FirstTerm first_term = FirstTerm::estimate;
  int64_t mask_value = -1;  // absorbing: a symbol that also stands for the mask; -1: none does
  GaussianNoiseOptions gaussian = {};
  TargetRateOptions target_rate = {};
};

// Whether noise covers symbols with a mask that is a state of its own, not a symbol.
TESSERA_API bool has_mask(const SymbolProcessOptions& options);

// The forward process of symbols: a kernel and the times it is used at. Immutable.
class TESSERA_API SymbolProcess {
 public:
  //   symbols  K, those that can be decoded
  // Throws UsageError for options that make no sense.
  SymbolProcess(int64_t symbols, const SymbolProcessOptions& options);

  const SymbolProcessOptions& options() const { return options_; }
  const NoiseKernel& kernel() const { return *kernel_; }
  // The kernel if noise covers symbols, else null. For code that has a shorter way for masks.
  const AbsorbingKernel* absorbing() const { return absorbing_; }
  double horizon() const { return kernel_->horizon(); }

  // Times of training.   samples [B] int64 -> [B] float64 in (0, T]
  at::Tensor draw_time(const StreamId& id, const at::Tensor& samples) const;

  // x_t of every symbol.   x0 [B, ...], t [B], u [B, ...] float64 -> [B, ...] states
  // Values below 0 are not symbols and stay as they are.
  at::Tensor noise(const at::Tensor& x0, const at::Tensor& t, const at::Tensor& u) const;

  // x after one more jump: one symbol of every sample changes. Which one, and into what, is drawn
  // by the rates of time t.   x [B, ...] states, t [B], u [B, 2] float64
  at::Tensor jump(const at::Tensor& x, const at::Tensor& t, const at::Tensor& u) const;

 private:
  SymbolProcessOptions options_;
  std::shared_ptr<const NoiseKernel> kernel_;
  const AbsorbingKernel* absorbing_ = nullptr;
};

}  // namespace tessera
