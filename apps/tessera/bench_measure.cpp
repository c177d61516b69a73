#include "bench_measure.h"

#include "base/require.h"
#include "memory_meter.h"
#include "tensor/device.h"

#include <tessera/tensor/random.h>

#include <ATen/ATen.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>

namespace tessera::app {
namespace {

BenchShape parse_shape(const std::string& text) {
  int64_t parts[3] = {0, 0, 0};
  const char* at = text.data();
  const char* end = at + text.size();
  for (int i = 0; i < 3; ++i) {
    const auto [stop, error] = std::from_chars(at, end, parts[i]);
    const bool separated = i < 2 ? stop != end && *stop == ',' : stop == end;
    require_option(error == std::errc() && separated && parts[i] > 0,
                   "--shape must be three numbers N,K,D above 0, got '{}'", text);
    at = stop + 1;
  }
  return {parts[0], parts[1], parts[2]};
}

}  // namespace

std::vector<BenchShape> parse_shapes(const std::vector<std::string>& texts) {
  std::vector<BenchShape> shapes;
  for (const auto& text : texts) shapes.push_back(parse_shape(text));
  return shapes;
}

at::Tensor random_codes(const BenchShape& shape, const BenchOptions& options) {
  const at::Tensor symbols = at::arange(shape.k, at::kLong).to(options.device);
  const at::Tensor codes = random_normal({options.seed, Purpose::test, 0}, symbols, {shape.d});
  return codes * (std::sqrt(static_cast<double>(shape.d)) / at::norm(codes, 2, {-1}, true));
}

std::vector<Measured> measure(const std::vector<std::function<at::Tensor()>>& versions,
                              at::Device device, int repeats) {
  std::vector<Measured> results;
  for (const auto& version : versions) {
    const MemoryMeter meter(device);
    at::Tensor value = version();
    synchronize(device);
    const int64_t output = value.numel() * static_cast<int64_t>(value.element_size());
    results.push_back({0, meter.peak() - output, value.clone()});
  }
  std::vector<std::vector<double>> seconds(versions.size());
  for (int repeat = 0; repeat < repeats; ++repeat) {
    for (size_t i = 0; i < versions.size(); ++i) {
      synchronize(device);
      const auto begin = std::chrono::steady_clock::now();
      versions[i]();
      synchronize(device);
      seconds[i].push_back(
          std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    }
  }
  for (size_t i = 0; i < versions.size(); ++i) {
    std::nth_element(seconds[i].begin(), seconds[i].begin() + repeats / 2, seconds[i].end());
    results[i].seconds = seconds[i][repeats / 2];
  }
  return results;
}

double gemm_rate(at::Device device, at::ScalarType dtype, int repeats) {
  const int64_t size = device.is_cuda() ? 8192 : 2048;
  const at::Tensor samples = at::arange(size, at::kLong).to(device);
  const at::Tensor x = random_normal({1, Purpose::test, 0}, samples, {size}).to(dtype);
  const at::Tensor y = random_normal({2, Purpose::test, 0}, samples, {size}).to(dtype);
  const auto result = measure({[&] { return at::mm(x, y); }}, device, repeats);
  return 2.0 * static_cast<double>(size) * size * size / result[0].seconds;
}

}  // namespace tessera::app
