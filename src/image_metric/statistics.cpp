#include "image_metric/statistics.h"

#include "base/require.h"
#include "tensor/tensor_checks.h"

#include <tessera/files/safetensors.h>

#include <ATen/ATen.h>
#include <fmt/ranges.h>

#include <initializer_list>
#include <optional>
#include <set>
#include <vector>

namespace tessera::image_metric {
namespace {

namespace fs = std::filesystem;

// How much Σ and Σᵀ may differ, relative to the largest entry: allows files of float32 numbers.
constexpr double kAsymmetry = 1e-4;

std::optional<std::string> key_of(const safetensors::File& file, const std::string& prefix,
                                  std::initializer_list<std::string> names) {
  for (const std::string& name : names) {
    if (prefix.empty()) {
      if (file.contains(name)) return name;
      continue;
    }
    for (const std::string& key :
         {name + "_" + prefix, prefix + "_" + name, name + "." + prefix, prefix + "." + name})
      if (file.contains(key)) return key;
  }
  return std::nullopt;
}

// "train" for "mu_train" or "train.mu", for every set of the file.
std::vector<std::string> named_sets(const safetensors::File& file) {
  std::set<std::string> sets;
  for (const std::string& key : file.names()) {
    for (const char* mark : {"mu_", "mu."})
      if (key.starts_with(mark)) sets.insert(key.substr(3));
    for (const char* mark : {"_mu", ".mu"})
      if (key.ends_with(mark)) sets.insert(key.substr(0, key.size() - 3));
  }
  sets.erase("");
  return {sets.begin(), sets.end()};
}

std::string chosen_set(const safetensors::File& file, const fs::path& path,
                       const std::string& prefix) {
  if (key_of(file, prefix, {"mu"})) return prefix;
  const auto sets = named_sets(file);
  if (prefix.empty() && sets.size() == 1) return sets.front();
  const bool unnamed = file.contains("mu");
  throw Error(prefix.empty() && !sets.empty()
                  ? fmt::format("'{}' holds the statistics of several sets", path.string())
                  : fmt::format("'{}' holds no statistics{}", path.string(),
                                prefix.empty() ? "" : fmt::format(" of '{}'", prefix)),
              !sets.empty() ? fmt::format("choose one with --prefix: {}", fmt::join(sets, ", "))
              : unnamed     ? "it holds one set without a name: leave --prefix out"
                            : "statistics files hold mu, sigma and count");
}

at::Tensor numbers(const safetensors::File& file, const fs::path& path, const std::string& prefix,
                   std::initializer_list<std::string> names) {
  const auto key = key_of(file, prefix, names);
  require(key.has_value(), "'{}' has no '{}'{}", path.string(), *names.begin(),
          prefix.empty() ? "" : fmt::format(" of '{}'", prefix));
  return file.tensor(*key);
}

// A copy in float64, which does not use the file's memory.
at::Tensor float64(const at::Tensor& x, const fs::path& path, const char* what) {
  require(x.is_floating_point(), "'{}': {} must hold floating-point numbers", path.string(), what);
  const at::Tensor result = x.to(at::kCPU, at::kDouble, /*non_blocking=*/false, /*copy=*/true);
  require(at::isfinite(result).all().item<bool>(), "'{}': {} contains NaN or infinite values",
          path.string(), what);
  return result;
}

int64_t count_of(const at::Tensor& x, const fs::path& path) {
  require(at::isIntegralType(x.scalar_type(), false) && x.numel() == 1,
          "'{}': count must be one whole number", path.string());
  const int64_t count = x.to(at::kLong).item<int64_t>();
  require(count >= 2, "'{}': a covariance needs at least 2 images, not {}", path.string(), count);
  return count;
}

std::string fact(const safetensors::File& file, const std::string& key) {
  const auto found = file.metadata().find(key);
  return found == file.metadata().end() ? "" : found->second;
}

}  // namespace

void save_statistics(const fs::path& path, const Statistics& statistics) {
  safetensors::Metadata facts;
  if (!statistics.extractor.empty()) facts["extractor"] = statistics.extractor;
  if (!statistics.extractor_hash.empty()) facts["extractor_hash"] = statistics.extractor_hash;
  if (!statistics.source.empty()) facts["made"] = statistics.source;
  if (!statistics.data.empty()) facts["data"] = statistics.data;
  safetensors::save(path,
                    {{"mu", statistics.gaussian.mean.to(at::kDouble)},
                     {"sigma", statistics.gaussian.covariance.to(at::kDouble)},
                     {"count", at::full({1}, statistics.count, at::kLong)}},
                    facts);
}

bool has_statistics(const fs::path& path, const std::string& prefix) {
  return key_of(safetensors::File(path), prefix, {"mu"}).has_value();
}

Statistics load_statistics(const fs::path& path, const std::string& prefix) {
  const safetensors::File file(path);
  const std::string set = chosen_set(file, path, prefix);
  Statistics result;
  result.gaussian.mean = float64(numbers(file, path, set, {"mu"}), path, "mu");
  const at::Tensor sigma = float64(numbers(file, path, set, {"sigma"}), path, "sigma");
  const at::Tensor& mean = result.gaussian.mean;
  require(mean.dim() == 1 && mean.size(0) > 0, "'{}': mu must be [D], got {}", path.string(),
          shape_text(mean.sizes()));
  require(sigma.sizes() == at::IntArrayRef({mean.size(0), mean.size(0)}),
          "'{}': sigma must be [{}, {}] as mu says, got {}", path.string(), mean.size(0),
          mean.size(0), shape_text(sigma.sizes()));
  require((sigma - sigma.t()).abs().max().item<double>() <=
              kAsymmetry * sigma.abs().max().item<double>(),
          "'{}': sigma is not symmetric, so it is no covariance", path.string());
  result.gaussian.covariance = (sigma + sigma.t()) / 2;
  result.count = count_of(numbers(file, path, set, {"count", "n"}), path);
  result.extractor = fact(file, "extractor");
  result.extractor_hash = fact(file, "extractor_hash");
  result.source = fact(file, "made");
  result.data = fact(file, "data");
  return result;
}

void require_same_extractor(const Statistics& a, const std::string& a_name, const Statistics& b,
                            const std::string& b_name) {
  const bool differ =
      !a.extractor_hash.empty() && !b.extractor_hash.empty()
          ? a.extractor_hash != b.extractor_hash
          : !a.extractor.empty() && !b.extractor.empty() && a.extractor != b.extractor;
  const auto described = [](const Statistics& each) {
    return fmt::format("{} {}", each.extractor, each.extractor_hash.substr(0, 16));
  };
  if (differ)
    throw Error(fmt::format("the features of '{}' ({}) and '{}' ({}) come from different "
                            "extractors",
                            a_name, described(a), b_name, described(b)),
                "distances make sense in one space of features: compute both with the same file");
}

}  // namespace tessera::image_metric
