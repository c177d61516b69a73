#include "codebook/table_exit.h"

#include "base/infinity.h"
#include "kernels/device.h"
#include "kernels/exit_ratio.h"
#include "tensor/device.h"

#include <ATen/ATen.h>

#include <numbers>
#include <utility>

namespace tessera {
namespace {

constexpr double kTiny = 1e-6;
bool has_kernel(const at::Tensor& codes, const at::Tensor& x) {
  return codes.scalar_type() == at::kFloat && x.scalar_type() == at::kFloat &&
         (!x.is_cuda() || kernels::cuda::has_hopper_code_for(x.get_device()));
}

at::Tensor device_scratch(const at::Tensor& codes, const at::Tensor& x) {
  const auto bytes = kernels::cuda::scratch_bytes(x.size(0), codes.size(0), codes.size(1));
  return at::empty({static_cast<int64_t>(bytes)}, x.options().dtype(at::kByte));
}

// --- The same in tiles of LibTorch operations, in float64. ---

// About ten temporaries of the size of a tile are made at a time. On the CPU one is 1 MiB and stays
// in its cache; on a GPU it is 16 MiB, because every operation takes time to launch.
struct TileShape {
  int64_t rows, codes;
};
TileShape tile_shape(const at::Tensor& x) {
  return x.is_cuda() ? TileShape{1024, 2048} : TileShape{256, 512};
}

// Calls visit(begin, length) for consecutive pieces of [0, total).
template <class Visit>
void for_tiles(int64_t total, int64_t tile, const Visit& visit) {
  for (int64_t begin = 0; begin < total; begin += tile) visit(begin, std::min(tile, total - begin));
}

at::Tensor in_double(const at::Tensor& x) {
  return x.detach().to(at::kDouble);
}

at::Tensor tile_scores(const at::Tensor& x, const at::Tensor& codes, const at::Tensor& bias,
                       int64_t begin, int64_t length) {
  at::Tensor scores = at::mm(x, in_double(codes.narrow(0, begin, length)).t());
  return bias.defined() ? scores + in_double(bias.narrow(0, begin, length)) : scores;
}

// The elements of one tile of rows: their own scores, and which differences count as zero.
struct OwnCell {
  at::Tensor x0, eps;                // [n, d]
  at::Tensor row;                    // [n] clamped into range
  at::Tensor score, noise_score, c;  // [n, 1]: x0 . E_I, eps . E_I, c_I
  at::Tensor tiny_a, tiny_b;         // [n, 1]
};

OwnCell own_cell(const at::Tensor& codes, const at::Tensor& bias, const at::Tensor& x0,
                 const at::Tensor& eps, const at::Tensor& rows, const at::Tensor& longest) {
  OwnCell own;
  own.x0 = in_double(x0);
  own.eps = in_double(eps);
  own.row = rows.clamp(0, codes.size(0) - 1);
  const at::Tensor code = in_double(codes.index_select(0, own.row));
  own.score = (own.x0 * code).sum(-1, true);
  own.noise_score = (own.eps * code).sum(-1, true);
  if (bias.defined()) own.c = in_double(bias.index_select(0, own.row)).unsqueeze(-1);
  own.tiny_a = kTiny * longest * at::norm(own.x0, 2, {-1}, true);
  own.tiny_b = kTiny * longest * at::norm(own.eps, 2, {-1}, true);
  return own;
}

// Differences between one tile of codes and an element's own code.
struct Differences {
  at::Tensor a, b;   // [n, m]: (x0 . E_I) - (x0 . E_J), (eps . E_J) - (eps . E_I)
  at::Tensor c;      // [n, m]: c_J - c_I, with a bias
  at::Tensor other;  // [n, m] bool: J != I
};

Differences differences(const OwnCell& own, const at::Tensor& codes, const at::Tensor& bias,
                        int64_t begin, int64_t length) {
  Differences tile;
  tile.a = own.score - tile_scores(own.x0, codes, {}, begin, length);
  tile.b = tile_scores(own.eps, codes, {}, begin, length) - own.noise_score;
  if (bias.defined()) tile.c = in_double(bias.narrow(0, begin, length)).unsqueeze(0) - own.c;
  const at::Tensor column = at::arange(begin, begin + length, own.row.options());
  tile.other = column.unsqueeze(0) != own.row.unsqueeze(-1);
  return tile;
}

// Walks over all tiles; reduce(own, tile) gives a tile's {value, outside} per element, combined by
// `combine` and "or".
template <class Reduce, class Combine>
TableExit walk(const at::Tensor& codes, const at::Tensor& bias, const at::Tensor& x0,
               const at::Tensor& eps, const at::Tensor& rows, double start, double without_cell,
               const Reduce& reduce, const Combine& combine) {
  TableExit exit{rows.defined() ? rows : table_argmax(codes, bias, x0),
                 at::full({x0.size(0)}, start, x0.options().dtype(at::kDouble)),
                 at::zeros({x0.size(0)}, x0.options().dtype(at::kBool))};
  const TileShape tile_size = tile_shape(x0);
  at::Tensor longest = at::zeros({}, exit.value.options());
  for_tiles(codes.size(0), tile_size.codes, [&](int64_t begin, int64_t length) {
    const at::Tensor norms = at::norm(in_double(codes.narrow(0, begin, length)), 2, {-1});
    longest = at::maximum(longest, norms.max());
  });
  for_tiles(x0.size(0), tile_size.rows, [&](int64_t first, int64_t count) {
    const auto part = [&](const at::Tensor& x) { return x.narrow(0, first, count); };
    const OwnCell own = own_cell(codes, bias, part(x0), part(eps), part(exit.rows), longest);
    at::Tensor value = part(exit.value), outside = part(exit.outside);
    for_tiles(codes.size(0), tile_size.codes, [&](int64_t begin, int64_t length) {
      const auto [tile_value, tile_outside] =
          reduce(own, differences(own, codes, bias, begin, length));
      value.copy_(combine(value, tile_value));
      outside.logical_or_(tile_outside);
    });
  });
  const at::Tensor no_cell = exit.rows.lt(0).logical_or_(exit.rows.ge(codes.size(0)));
  exit.outside.logical_and_(no_cell.logical_not());
  exit.value.masked_fill_(no_cell.logical_or(exit.outside), without_cell);
  exit.value = exit.value.to(x0.scalar_type());
  return exit;
}

TableExit tiled_exit_ratio(const at::Tensor& codes, const at::Tensor& x0, const at::Tensor& eps,
                           const at::Tensor& rows) {
  const auto reduce = [](const OwnCell& own, const Differences& tile) {
    const at::Tensor tie = tile.a.abs() <= own.tiny_a;
    at::Tensor ratio = at::where(tie, -kInfinity, tile.b / tile.a);
    ratio.masked_fill_(tie.logical_and(tile.b > own.tiny_b), kInfinity);
    ratio.masked_fill_(tile.other.logical_not(), -kInfinity);
    const at::Tensor outside = (tile.a < -own.tiny_a).logical_and_(tile.other).any(-1);
    return std::pair{ratio.amax(-1), outside};
  };
  const auto combine = [](const at::Tensor& x, const at::Tensor& y) { return at::maximum(x, y); };
  return walk(codes, {}, x0, eps, rows, -kInfinity, kInfinity, reduce, combine);
}

}  // namespace

at::Tensor with_coordinate(const at::Tensor& x, const at::Tensor& value) {
  return at::cat({x, value.to(x.scalar_type()).unsqueeze(-1)}, -1);
}

at::Tensor with_coordinate(const at::Tensor& x, double value) {
  return with_coordinate(x, at::full(x.sizes().slice(0, x.dim() - 1), value, x.options()));
}

TableExit table_exit_ratio(const at::Tensor& codes, const at::Tensor& x0, const at::Tensor& eps,
                           const at::Tensor& rows) {
  if (!has_kernel(codes, x0)) return tiled_exit_ratio(codes, x0, eps, rows);
  const at::Tensor table = codes.detach().contiguous();
  const at::Tensor start = x0.contiguous(), end = eps.contiguous();
  const int64_t n = start.size(0);
  TableExit exit{rows.defined() ? rows.contiguous() : at::empty({n}, x0.options().dtype(at::kLong)),
                 at::empty({n}, x0.options()), at::empty({n}, x0.options().dtype(at::kBool))};
  const kernels::ExitRatio problem{.x0 = start.const_data_ptr<float>(),
                                   .eps = end.const_data_ptr<float>(),
                                   .codes = table.const_data_ptr<float>(),
                                   .n = n,
                                   .k = table.size(0),
                                   .d = table.size(1),
                                   .decode = !rows.defined(),
                                   .labels = exit.rows.data_ptr<int64_t>(),
                                   .ratio = exit.value.mutable_data_ptr<float>(),
                                   .outside = exit.outside.mutable_data_ptr<bool>()};
  if (start.is_cuda()) {
    on_cuda(start.device(), [&](void* stream) {
      kernels::cuda::exit_ratio(problem, device_scratch(table, start).mutable_data_ptr(), stream);
    });
  } else {
    kernels::cpu::exit_ratio(problem);
  }
  return exit;
}

at::Tensor table_argmax(const at::Tensor& codes, const at::Tensor& bias, const at::Tensor& x) {
  if (bias.defined() && has_kernel(codes, x))
    return table_argmax(with_coordinate(codes, bias), {}, with_coordinate(x, 1.0));
  const int64_t n = x.size(0);
  if (has_kernel(codes, x)) {
    const at::Tensor table = codes.detach().contiguous(), points = x.detach().contiguous();
    at::Tensor rows = at::empty({n}, x.options().dtype(at::kLong));
    const kernels::ArgmaxScore problem{points.const_data_ptr<float>(),
                                       table.const_data_ptr<float>(),
                                       n,
                                       table.size(0),
                                       table.size(1),
                                       rows.mutable_data_ptr<int64_t>()};
    if (points.is_cuda()) {
      on_cuda(points.device(), [&](void* stream) {
        kernels::cuda::argmax_score(problem, device_scratch(table, points).mutable_data_ptr(),
                                    stream);
      });
    } else {
      kernels::cpu::argmax_score(problem);
    }
    return rows;
  }
  const TileShape tile_size = tile_shape(x);
  at::Tensor rows = at::zeros({n}, x.options().dtype(at::kLong));
  for_tiles(n, tile_size.rows, [&](int64_t first, int64_t count) {
    const at::Tensor points = in_double(x.narrow(0, first, count));
    at::Tensor best = at::full({count}, -kInfinity, points.options());
    at::Tensor winner = rows.narrow(0, first, count);
    for_tiles(codes.size(0), tile_size.codes, [&](int64_t begin, int64_t length) {
      // A tile's maximum takes the lowest index, and a later tile must be better, not equal.
      const auto [score, index] = tile_scores(points, codes, bias, begin, length).max(-1);
      const at::Tensor better = score > best;
      best = at::where(better, score, best);
      winner.copy_(at::where(better, index + begin, winner));
    });
  });
  return rows;
}

TableExit table_exit_angle(const at::Tensor& codes, const at::Tensor& bias, const at::Tensor& x0,
                           const at::Tensor& eps, const at::Tensor& rows) {
  // f(x, I) - f(x, J) = a cos(theta) - b sin(theta) - c = R cos(theta + phi) - c: first zero in [0,
  // pi/2].
  const auto reduce = [](const OwnCell& own, const Differences& tile) {
    const at::Tensor margin = tile.a - tile.c;
    const at::Tensor radius = (tile.a.square() + tile.b.square()).sqrt_();
    const at::Tensor duplicate =
        (radius <= at::maximum(own.tiny_a, own.tiny_b)).logical_and_(margin.abs() <= own.tiny_a);
    const at::Tensor at_once = (margin.abs() <= own.tiny_a).logical_and_(tile.b > own.tiny_b);
    at::Tensor angle = at::acos((tile.c / radius).clamp_(-1, 1)) - at::atan2(tile.b, tile.a);
    angle.masked_fill_(at_once, 0.0);
    const at::Tensor never = (tile.c < -radius)
                                 .logical_or_(angle > std::numbers::pi / 2)
                                 .logical_or_(duplicate)
                                 .logical_or_(tile.other.logical_not());
    angle.masked_fill_(never, kInfinity);
    const at::Tensor outside = (margin < -own.tiny_a).logical_and_(tile.other).any(-1);
    return std::pair{angle.clamp_min(0).amin(-1), outside};
  };
  const auto combine = [](const at::Tensor& x, const at::Tensor& y) { return at::minimum(x, y); };
  return walk(codes, bias, x0, eps, rows, kInfinity, 0.0, reduce, combine);
}

}  // namespace tessera
