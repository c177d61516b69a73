#include "bench_boundary.h"

#include "codebook/bit_exit.h"
#include "codebook/table_exit.h"

#include <tessera/codebook/bits.h>
#include <tessera/process/trajectory.h>
#include <tessera/tensor/random.h>
#include <tessera/tensor/value_checks.h>
#include <tessera/version.h>

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <limits>

namespace tessera::app {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// The stopping time as one would write it first: all scores of all elements, then elementwise
// operations.
at::Tensor naive_table_ratio(const at::Tensor& codes, const at::Tensor& x0, const at::Tensor& eps,
                             const at::Tensor& labels) {
  const at::Tensor own = labels.unsqueeze(-1);
  at::Tensor a = at::matmul(x0, codes.t());
  a = a.gather(-1, own) - a;
  at::Tensor b = at::matmul(eps, codes.t());
  b = b - b.gather(-1, own);
  return at::where(a > 0, b / a, -kInfinity).scatter_(-1, own, -kInfinity).amax(-1);
}

at::Tensor naive_bit_ratio(const at::Tensor& x0, const at::Tensor& eps) {
  return at::where(x0 * eps < 0, eps.abs() / x0.abs(), -kInfinity).amax(-1);
}

// Largest differences in steps of the stopping time, against float64: 99.9th percentile and
// maximum.
struct StepError {
  double percentile, maximum;
};
StepError step_error(const at::Tensor& ratio, const at::Tensor& exact) {
  const Trajectory trajectory("vp-sqrt", 2000);
  const at::Tensor difference =
      (trajectory.time_of_ratio(ratio.to(at::kDouble)) - trajectory.time_of_ratio(exact)).abs();
  const at::Tensor sorted = std::get<0>(difference.sort());
  const auto rank = static_cast<int64_t>(0.999 * static_cast<double>(sorted.numel() - 1));
  return {sorted[rank].item<double>(), sorted[-1].item<double>()};
}

// A comparison, as it is printed: rows[0] is naive, rows[1] ours.
struct Comparison {
  std::string what;
  std::vector<Measured> rows;
  std::vector<StepError> errors;
  double operations = 0;  // of the two products, 0 for none
};

Comparison compare_table(const BenchShape& shape, const BenchOptions& options) {
  const at::Tensor rows = at::arange(shape.n, at::kLong).to(options.device);
  const at::Tensor codes = random_codes(shape, options);
  const at::Tensor labels = random_integers({options.seed, Purpose::test, 1}, rows, 0, shape.k - 1);
  const at::Tensor x0 = codes.index_select(0, labels);
  const at::Tensor eps = random_normal({options.seed, Purpose::test, 2}, rows, {shape.d});

  Comparison comparison;
  comparison.what =
      fmt::format("embedding table, N = {}, K = {}, d = {}", shape.n, shape.k, shape.d);
  comparison.operations = 4.0 * static_cast<double>(shape.n) * shape.k * shape.d;
  comparison.rows = measure({[&] { return naive_table_ratio(codes, x0, eps, labels); },
                             [&] { return table_exit_ratio(codes, x0, eps, labels).value; }},
                            options.device, options.repeats);
  const at::Tensor exact =
      table_exit_ratio(codes.to(at::kDouble), x0.to(at::kDouble), eps.to(at::kDouble), labels)
          .value;
  for (const auto& row : comparison.rows) comparison.errors.push_back(step_error(row.value, exact));
  return comparison;
}

Comparison compare_bits(const BenchOptions& options) {
  const int64_t batch = 128, subpixels = 3072;
  const Bits bits({}, options.device);
  const at::Tensor images = at::arange(batch, at::kLong).to(options.device);
  const at::Tensor labels =
      random_integers({options.seed, Purpose::test, 1},
                      at::arange(batch * subpixels, at::kLong).to(options.device), 0, 255)
          .reshape({batch, subpixels});
  const at::Tensor x0 = bits.encode(labels);
  const at::Tensor eps = random_normal({options.seed, Purpose::test, 2}, images, {subpixels, 8});

  Comparison comparison;
  comparison.what = fmt::format("bits, {} x {} sub-pixels", batch, subpixels);
  comparison.rows = measure({[&] { return naive_bit_ratio(x0, eps); },
                             [&] { return bit_exit_ratio(x0, eps, labels).ratio; }},
                            options.device, options.repeats);
  const at::Tensor exact = naive_bit_ratio(x0.to(at::kDouble), eps.to(at::kDouble));
  for (const auto& row : comparison.rows)
    comparison.errors.push_back(step_error(row.value.reshape({-1}), exact.reshape({-1})));
  return comparison;
}

nlohmann::json to_json(const Comparison& comparison, double rate) {
  nlohmann::json rows = nlohmann::json::array();
  for (size_t i = 0; i < comparison.rows.size(); ++i) {
    rows.push_back({{"version", i == 0 ? "naive" : "tessera"},
                    {"seconds", comparison.rows[i].seconds},
                    {"peak_extra_bytes", comparison.rows[i].peak},
                    {"error_steps_p999", comparison.errors[i].percentile},
                    {"error_steps_max", comparison.errors[i].maximum}});
  }
  nlohmann::json result{{"what", comparison.what},
                        {"rows", rows},
                        {"speedup", comparison.rows[0].seconds / comparison.rows[1].seconds}};
  if (comparison.operations > 0)
    result["share_of_gemm_rate"] = comparison.operations / comparison.rows[1].seconds / rate;
  return result;
}

void print(const Comparison& comparison, double rate) {
  fmt::print("\n{}\n{:<10} {:>11} {:>14} {:>9} {:>14} {:>12}\n", comparison.what, "", "time",
             "extra memory", "ratio", "error p99.9", "error max");
  for (size_t i = 0; i < comparison.rows.size(); ++i) {
    const auto& row = comparison.rows[i];
    fmt::print("{:<10} {:>8.3f} ms {:>10.2f} MiB {:>8.2f}x {:>8.2e} steps {:>6.2e} steps\n",
               i == 0 ? "naive" : "tessera", 1e3 * row.seconds,
               static_cast<double>(row.peak) / kMiB, comparison.rows[0].seconds / row.seconds,
               comparison.errors[i].percentile, comparison.errors[i].maximum);
  }
  if (comparison.operations > 0) {
    const double ours = comparison.operations / comparison.rows[1].seconds;
    fmt::print(
        "the two products alone are {:.1f} GFLOP: {:.2f} TFLOP/s, {:.0f} % of the GEMM rate\n",
        comparison.operations / 1e9, ours / 1e12, 100 * ours / rate);
  }
}

}  // namespace

void bench_boundary(const BenchOptions& options) {
  const c10::NoGradGuard no_grad;
  const std::vector<BenchShape> shapes = parse_shapes(options.shapes);
  at::globalContext().setFloat32MatmulPrecision("highest");  // no TF32 in the naive version
  set_value_checks(ValueChecks::off);

  // The rate of the arithmetic our kernel uses: float32 on the CPU; on CUDA bf16 tensor cores,
  // three products each.
  const bool cuda = options.device.is_cuda();
  const double rate =
      gemm_rate(options.device, cuda ? at::kBFloat16 : at::kFloat, options.repeats) /
      (cuda ? 3.0 : 1.0);
  const std::string unit = cuda ? "bf16 GEMM, divided by 3 (three products each)" : "float32 GEMM";

  nlohmann::json document{{"device", options.device.str()},
                          {"threads", at::get_num_threads()},
                          {"repeats", options.repeats},
                          {"gemm", unit},
                          {"gemm_flops", rate},
                          {"results", nlohmann::json::array()}};
  if (!options.json) {
    fmt::print("stopping times on {}, {} threads, median of {} runs, versions run in turn\n{}",
               options.device.str(), at::get_num_threads(), options.repeats, build_summary());
    fmt::print("{:<15} {:.2f} TFLOP/s: {}\n", "GEMM rate", rate / 1e12, unit);
    std::fflush(stdout);
  }
  const auto show = [&](const Comparison& comparison) {
    if (options.json) {
      document["results"].push_back(to_json(comparison, rate));
    } else {
      print(comparison, rate);
      std::fflush(stdout);
    }
  };
  for (const auto& shape : shapes) show(compare_table(shape, options));
  show(compare_bits(options));
  if (options.json) fmt::print("{}\n", document.dump(2));
}

}  // namespace tessera::app
