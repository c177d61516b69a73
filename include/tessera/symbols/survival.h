#pragma once

#include <tessera/base/api.h>
#include <tessera/base/enum_names.h>

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>

namespace tessera {

class DeviceCopies;

// How fast noise takes symbols away: alpha(s) is the share that it has left alone at s = t / T.
enum class SurvivalKind {
  linear,          // 1 - s
  log_linear,      // 1 - (1 - epsilon) s
  cosine,          // 1 - cos(pi/2 (1 - (1 - epsilon) s))
  d3pm_cosine,     // f(s) / f(0), f = cos((s + .008) / 1.008 pi/2); a step loses at most .999
  squared_cosine,  // the same with f squared
  d3pm_linear,     // prod (1 - beta_i), beta from .02 to 1
  geometric,       // exp(-sigma_min^(1-s) sigma_max^s)
  sqrt_cosine,     // exp(-rate (1 - sqrt(cos(pi s / 2))))
};

template <>
struct EnumNames<SurvivalKind> {
  static constexpr std::string_view what = "survival schedule";
  static constexpr std::array<std::pair<SurvivalKind, std::string_view>, 8> values{{
      {SurvivalKind::linear, "linear"},
      {SurvivalKind::log_linear, "log-linear"},
      {SurvivalKind::cosine, "cosine"},
      {SurvivalKind::d3pm_cosine, "d3pm-cosine"},
      {SurvivalKind::squared_cosine, "squared-cosine"},
      {SurvivalKind::d3pm_linear, "d3pm-linear"},
      {SurvivalKind::geometric, "geometric"},
      {SurvivalKind::sqrt_cosine, "sqrt-cosine"},
  }};
};

struct SurvivalOptions {
  SurvivalKind kind = SurvivalKind::log_linear;
  int64_t horizon = 1000;   // T, steps
  double epsilon = 1e-3;    // log-linear, cosine: how far from 1 - s the schedule stays
  double sigma_min = 1e-4;  // geometric: -ln alpha at 0
  double sigma_max = 20;    // geometric: -ln alpha at T
  double rate = 10;         // sqrt-cosine: -ln alpha at T
};

// The share of symbols that noise has left alone, at real-valued times. Everything is float64, on
// the device of its argument. Kinds that are made of steps (d3pm-cosine, squared-cosine,
// d3pm-linear) have a constant rate within a step. A small immutable value: copy it freely.
class TESSERA_API Survival {
 public:
  explicit Survival(const SurvivalOptions& options = {});

  const SurvivalOptions& options() const { return options_; }
  double horizon() const { return static_cast<double>(options_.horizon); }

  // t [...] in [0, T]  ->  [...] float64
  at::Tensor alpha(const at::Tensor& t) const;
  at::Tensor lost(const at::Tensor& t) const;        // 1 - alpha, without losing digits near 0
  at::Tensor sigma(const at::Tensor& t) const;       // -ln alpha
  at::Tensor sigma_rate(const at::Tensor& t) const;  // d sigma / d s
  at::Tensor hazard(const at::Tensor& t) const;      // -alpha' / (1 - alpha): rate of uncovering

  // The same for one time.
  double alpha(double t) const;
  double sigma(double t) const;
  double sigma_rate(double t) const;

 private:
  SurvivalOptions options_;
  std::shared_ptr<DeviceCopies> table_;  // sigma at 0 .. T, for the kinds that are made of steps
};

}  // namespace tessera
