#include <tessera/version.h>

#include "base/numerals.h"
#include "kernels/cpu/row_scan.h"
#include "tensor/device.h"

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/Version.h>
#include <ATen/detail/CUDAHooksInterface.h>
#include <fmt/format.h>
#include <torch/headeronly/version.h>

namespace tessera {
namespace {

std::string cuda_summary() {
  if (!at::hasCUDA()) return "none (LibTorch without CUDA, or no device)";
  const long runtime = at::detail::getCUDAHooks().versionCUDART();
  return fmt::format("{}.{}, {}", runtime / 1000, runtime % 1000 / 10,
                     counted(cuda_device_count(), "device"));
}

}  // namespace

std::string version() {
  return TESSERA_VERSION;
}

std::string build_summary() {
  std::string kernels;
  for (const auto* scan : kernels::cpu::available_row_scans())
    kernels += fmt::format("{}{}", kernels.empty() ? "" : ", ", scan->name);
  return fmt::format(
      "LibTorch        {}\n"
      "CUDA            {}\n"
      "CUDA kernels    {}\n"
      "CPU kernels     {} (in use: {})\n"
      "LibTorch CPU    {}\n"
      "threads         {}\n",
      TORCH_VERSION, cuda_summary(),
#ifdef TESSERA_WITH_CUDA
      "built in",
#else
      "not built in",
#endif
      kernels, kernels::cpu::row_scan().name, at::get_cpu_capability(), at::get_num_threads());
}

}  // namespace tessera
