#include "base/numerals.h"
#include "inspection.h"
#include "text_chart.h"

#include <tessera/files/safetensors.h>

#include <ATen/core/Tensor.h>
#include <c10/core/ScalarType.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace tessera::app {

Report inspect_tensors(const std::filesystem::path& file) {
  const safetensors::File contents(file);
  Report tensors = Report::array();
  int64_t numbers = 0;
  uint64_t bytes = 0;
  for (const std::string& name : contents.names()) {
    const at::Tensor tensor = contents.tensor(name);
    tensors.push_back({{"name", name},
                       {"dtype", c10::getDtypeNames(tensor.scalar_type()).first},
                       {"shape", tensor.sizes().vec()},
                       {"numbers", tensor.numel()}});
    numbers += tensor.numel();
    bytes += tensor.nbytes();
  }
  return {{"kind", "safetensors"}, {"path", file.string()},
          {"numbers", numbers},    {"bytes", bytes},
          {"tensors", tensors},    {"metadata", Report(contents.metadata())}};
}

std::string tensors_text(const Report& report) {
  std::string text = fmt::format("{}: {}, {} numbers, {}\n", report["path"].get<std::string>(),
                                 counted(std::ssize(report["tensors"]), "tensor"),
                                 with_commas(report["numbers"].get<int64_t>()),
                                 byte_count(report["bytes"].get<uint64_t>()));
  size_t widest = 0;
  for (const Report& each : report["tensors"])
    widest = std::max(widest, each["name"].get_ref<const std::string&>().size());
  for (const Report& each : report["tensors"])
    text += fmt::format("  {:<{}}  {:<8}  {}\n", each["name"].get<std::string>(), widest,
                        each["dtype"].get<std::string>(), each["shape"].dump());
  for (const auto& [key, value] : report["metadata"].items())
    text += fmt::format("  metadata: {} = {}\n", key, value.get<std::string>());
  return text;
}

}  // namespace tessera::app
