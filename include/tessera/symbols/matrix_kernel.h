#pragma once

#include <tessera/base/api.h>
#include <tessera/symbols/noise_kernel.h>

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>

namespace tessera {

// A kernel for few symbols, made from K x K tables: for ordered values, such as those of pixels.
// There is no mask. Tables are float64.
class TESSERA_API MatrixKernel : public NoiseKernel {
 public:
  static constexpr int64_t kMostSymbols = 1024;

  int64_t symbols() const override { return symbols_; }
  double horizon() const override { return horizon_; }

  at::Tensor draw(const at::Tensor& x, const at::Tensor& s, const at::Tensor& t,
                  const at::Tensor& u) const override;
  at::Tensor start(const at::Tensor& u) const override;
  at::Tensor log_from(const at::Tensor& x, const at::Tensor& s, const at::Tensor& t) const override;
  at::Tensor forward(const at::Tensor& p, const at::Tensor& t) const override;
  at::Tensor marginal(const at::Tensor& x0, const at::Tensor& t) const override;

  // q(x_t = j | x_s = i), row i sums to one.   s, t [B] or [] -> [B, K, K] or [K, K]
  virtual at::Tensor between(const at::Tensor& s, const at::Tensor& t) const = 0;
  // The distribution of x_T, whatever x_0 was.   [K]
  virtual at::Tensor stationary() const = 0;

 protected:
  // Throws UsageError for so many symbols that tables would be too large.
  MatrixKernel(int64_t symbols, int64_t horizon);

 private:
  int64_t symbols_;
  double horizon_;
};

struct GaussianNoiseOptions {
  double first_variance = 1e-4;  // of the first step, for values in [-1, 1]
  double last_variance = 0.02;   // of the last; linear between them
};

// The discretised Gaussian of D3PM: a step adds noise to values 0 .. K-1, spread over [-1, 1]; a
// value that would leave this range stays where it is. Time has steps 1 .. T and no rates, as the
// steps do not commute: times are whole numbers, and s is 0 or t - 1 if samples have times of their
// own.
class TESSERA_API GaussianKernel final : public MatrixKernel {
 public:
  GaussianKernel(int64_t symbols, int64_t horizon, const GaussianNoiseOptions& options = {});
  ~GaussianKernel() override;

  bool has_rates() const override { return false; }
  at::Tensor rates_from(const at::Tensor& x, const at::Tensor& t) const override;
  at::Tensor rates_into(const at::Tensor& x, const at::Tensor& t) const override;
  at::Tensor between(const at::Tensor& s, const at::Tensor& t) const override;
  at::Tensor stationary() const override;

 private:
  struct Tables;  // made when they are first used

  std::unique_ptr<Tables> tables_;
};

struct TargetRateOptions {
  double reach = 6;           // about how many values a jump moves by
  double target_width = 512;  // standard deviation of the values at T
  double scale = 3;           // noise until t is scale * (growth^(t / T) - 1)
  double growth = 100;
};

// The chain of tauLDR: values jump towards the middle at rates that fall with the distance, and
// back at rates that leave a wide Gaussian as it is. Time is continuous.
class TESSERA_API TargetRateKernel final : public MatrixKernel {
 public:
  TargetRateKernel(int64_t symbols, int64_t horizon, const TargetRateOptions& options = {});
  ~TargetRateKernel() override;

  at::Tensor rates_from(const at::Tensor& x, const at::Tensor& t) const override;
  at::Tensor rates_into(const at::Tensor& x, const at::Tensor& t) const override;
  at::Tensor between(const at::Tensor& s, const at::Tensor& t) const override;
  at::Tensor stationary() const override { return stationary_; }

  at::Tensor base() const;                        // [K, K]  rates where the speed is 1
  at::Tensor speed(const at::Tensor& t) const;    // of rates, per unit of t / T
  at::Tensor elapsed(const at::Tensor& t) const;  // the integral of that

 private:
  struct Tables;

  TargetRateOptions options_;
  at::Tensor stationary_;
  std::unique_ptr<Tables> tables_;
};

}  // namespace tessera
