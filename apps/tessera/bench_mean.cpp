#include "bench_mean.h"

#include "codebook/table_mean.h"

#include <tessera/tensor/random.h>
#include <tessera/version.h>

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <cstdio>

namespace tessera::app {
namespace {

constexpr const char* kVersions[] = {"naive", "tessera"};

at::Tensor naive_mean(const at::Tensor& codes, const at::Tensor& x) {
  return at::matmul(at::matmul(x, codes.t()).softmax(-1), codes);
}

// |value - exact| / |exact|, of all points together, in float64.
double relative_error(const at::Tensor& value, const at::Tensor& exact) {
  return (at::norm(value.to(at::kDouble) - exact) / at::norm(exact)).item<double>();
}

// The same in float64, some points at a time.
at::Tensor exact_mean(const at::Tensor& codes, const at::Tensor& x) {
  std::vector<at::Tensor> parts;
  for (const at::Tensor& part : x.to(at::kDouble).split(256))
    parts.push_back(naive_mean(codes.to(at::kDouble), part));
  return at::cat(parts);
}

nlohmann::json compare(const BenchShape& shape, const BenchOptions& options) {
  const at::Tensor codes = random_codes(shape, options);
  const at::Tensor points = at::arange(shape.n, at::kLong).to(options.device);
  const at::Tensor labels =
      random_integers({options.seed, Purpose::test, 1}, points, 0, shape.k - 1);
  // Estimates of doubtful symbols: a code's direction, some noise, a logit of about 10.
  const at::Tensor x =
      (codes.index_select(0, labels) +
       random_normal({options.seed, Purpose::test, 2}, points, {shape.d}, /*scale=*/0.5)) *
      (10.0 / static_cast<double>(shape.d));
  const std::vector<Measured> rows =
      measure({[&] { return naive_mean(codes, x); }, [&] { return table_mean(codes, {}, x, 1.0); }},
              options.device, options.repeats);
  const at::Tensor exact = exact_mean(codes, x);
  nlohmann::json result{{"what", fmt::format("N = {}, K = {}, d = {}", shape.n, shape.k, shape.d)},
                        {"rows", nlohmann::json::array()},
                        {"speedup", rows[0].seconds / rows[1].seconds}};
  for (size_t i = 0; i < rows.size(); ++i)
    result["rows"].push_back({{"version", kVersions[i]},
                              {"seconds", rows[i].seconds},
                              {"peak_extra_bytes", rows[i].peak},
                              {"relative_error", relative_error(rows[i].value, exact)}});
  return result;
}

void print(const nlohmann::json& comparison) {
  fmt::print("\n{}\n{:<10} {:>11} {:>14} {:>9} {:>15}\n", comparison["what"].get<std::string>(), "",
             "time", "extra memory", "ratio", "relative error");
  const double naive = comparison["rows"][0]["seconds"];
  for (const auto& row : comparison["rows"]) {
    const double seconds = row["seconds"];
    fmt::print("{:<10} {:>8.3f} ms {:>10.2f} MiB {:>8.2f}x {:>15.1e}\n",
               row["version"].get<std::string>(), 1e3 * seconds,
               row["peak_extra_bytes"].get<double>() / kMiB, naive / seconds,
               row["relative_error"].get<double>());
  }
  std::fflush(stdout);
}

}  // namespace

void bench_mean(const BenchOptions& options) {
  const c10::NoGradGuard no_grad;
  const std::vector<BenchShape> shapes = parse_shapes(options.shapes);
  at::globalContext().setFloat32MatmulPrecision("highest");  // no TF32 in the naive version
  nlohmann::json document{{"device", options.device.str()},
                          {"threads", at::get_num_threads()},
                          {"repeats", options.repeats},
                          {"results", nlohmann::json::array()}};
  if (!options.json)
    fmt::print("means of codes on {}, {} threads, median of {} runs, versions run in turn\n{}",
               options.device.str(), at::get_num_threads(), options.repeats, build_summary());
  for (const BenchShape& shape : shapes) {
    const nlohmann::json comparison = compare(shape, options);
    if (options.json)
      document["results"].push_back(comparison);
    else
      print(comparison);
  }
  if (options.json) fmt::print("{}\n", document.dump(2));
}

}  // namespace tessera::app
