#include "image_metric/nearest.h"

#include "base/require.h"
#include "tensor/tensor_checks.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <limits>

namespace tessera::image_metric {
namespace {

constexpr int64_t kTile = 1024;  // of queries and of elements

at::Tensor as_rows(const at::Tensor& x, const char* argument) {
  require_defined(x, argument);
  require(x.dim() >= 2 && (x.size(0) == 0 || x.numel() > 0), "{} must be [n, ...], got {}",
          argument, shape_text(x.sizes()));
  return x.detach().reshape({x.size(0), c10::multiply_integers(x.sizes().slice(1))});
}

}  // namespace

NearestSearch::NearestSearch(const at::Tensor& queries)
    : queries_(as_rows(queries, "queries")),
      index_(at::full({queries_.size(0)}, -1, queries_.options().dtype(at::kLong))),
      squared_(at::full({queries_.size(0)}, std::numeric_limits<double>::infinity(),
                        queries_.options().dtype(at::kDouble))) {}

void NearestSearch::add(const at::Tensor& elements) {
  const at::Tensor rows = as_rows(elements, "elements");
  require(rows.size(1) == queries_.size(1),
          "the elements of the set have {} numbers each and the queries {}", rows.size(1),
          queries_.size(1));
  const c10::NoGradGuard no_grad;
  for (int64_t begin = 0; begin < rows.size(0); begin += kTile)
    compare(rows.slice(0, begin, std::min(begin + kTile, rows.size(0)))
                .to(queries_.device())
                .to(at::kDouble),
            count_ + begin);
  count_ += rows.size(0);
}

void NearestSearch::compare(const at::Tensor& tile, int64_t begin) {
  const at::Tensor lengths = tile.square().sum(1);
  for (int64_t first = 0; first < queries_.size(0); first += kTile) {
    const int64_t last = std::min(first + kTile, queries_.size(0));
    const at::Tensor queries = queries_.slice(0, first, last).to(at::kDouble);
    // |q - x|² less |q|², which is the same for all x.
    const at::Tensor best =
        at::addmm(lengths.unsqueeze(0), queries, tile.t(), /*beta=*/1, /*alpha=*/-2).argmin(1);
    // Computed again, without the difference of large numbers.
    const at::Tensor squared = (queries - tile.index_select(0, best)).square().sum(1);
    at::Tensor known = squared_.slice(0, first, last), place = index_.slice(0, first, last);
    const at::Tensor nearer = squared < known;
    place.copy_(at::where(nearer, best + begin, place));
    known.copy_(at::where(nearer, squared, known));
  }
}

at::Tensor NearestSearch::index() const {
  return index_.clone();
}

at::Tensor NearestSearch::distance() const {
  return squared_.sqrt();
}

}  // namespace tessera::image_metric
