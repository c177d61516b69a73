#pragma once

#include <tessera/base/api.h>
#include <tessera/process/adaptive_schedule.h>
#include <tessera/process/family.h>
#include <tessera/process/objective.h>
#include <tessera/process/process.h>

#include <optional>

namespace tessera {

struct BoundaryFamilyOptions {
  ProcessOptions process = {};
  ObjectiveOptions objective = {};
  Estimate condition_on = Estimate::raw;  // what self-conditioning shows of the estimate
  double clip = 0;  // largest coordinate of a code, which estimates are clipped to; 0: they are not
  AdaptiveScheduleOptions adaptive = {};  // for sequences, with r = 0
};

// The paper's family: points on paths from codes to Gaussian noise that are rescaled at the borders
// of the cells. Process, objective() and Sampler in one; r = 0 is plain diffusion of points.
class TESSERA_API BoundaryFamily final : public Family {
 public:
  // Throws UsageError for options that make no sense.
  BoundaryFamily(const Codebook& codebook, const BoundaryFamilyOptions& options);

  double horizon() const override { return process_.trajectory().horizon(); }
  std::string summary() const override;
  Draws draw(const TrainingStreams& streams, const at::Tensor& samples,
             at::IntArrayRef elements) const override;  // t [B], eps [B, ..., d]
  Corrupted corrupt(const at::Tensor& labels, const Draws& draws) const override;
  FamilyLoss loss(const Corrupted& corrupted, const at::Tensor& output, const at::Tensor& labels,
                  const at::Tensor& mask) const override;
  // mse, cross_entropy;
  // tau      mean tau / T
  // outside  share of the symbols outside their own cell
  // reach    mean length of the estimate over that of the codes
  std::span<const std::string_view> measures() const override;
  at::Tensor shown(const at::Tensor& output) const override;
  Sample reverse(const Denoiser& network, const at::Tensor& samples, at::IntArrayRef elements,
                 const SamplerOptions& options, const StepCallback& callback = {},
                 const at::Tensor& seeds = {}, const at::Tensor& present = {}) const override;
  int64_t calls(const SamplerOptions& options) const override;
  const Process* process() const override { return &process_; }

  // These concern the adaptive schedule, if there is one.
  void observe(const FamilyLoss& loss) override;
  void updated(int64_t updates) override;
  safetensors::Tensors state() const override;
  void restore(const safetensors::File& file, const std::string& prefix) override;

 private:
  // Adds the settings that the network was trained with.
  SamplerOptions in_force(SamplerOptions options) const;

  BoundaryFamilyOptions options_;
  std::optional<AdaptiveSchedule> schedule_;
  Process process_;
};

}  // namespace tessera
