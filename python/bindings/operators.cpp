#include <tessera/codebook/embedding_table.h>
#include <tessera/process/boundary.h>

#include <ATen/ATen.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/library.h>

#include <optional>
#include <string_view>
#include <tuple>
#include <vector>

// Pure functions of tensors as operators of LibTorch, torch.ops.tessera.*, which torch.compile
// takes as they are. They are registered when the module is loaded; the package has a function for
// each.
namespace tessera::python {
namespace {

using at::Tensor;
using Bias = std::optional<Tensor>;

EmbeddingTable table_of(const Tensor& codes, const Bias& bias, at::IntArrayRef undecodable) {
  return EmbeddingTable(codes, {.normalise = Normalise::none, .undecodable = undecodable.vec()},
                        bias.value_or(Tensor()));
}

std::tuple<Tensor, Tensor> exit_time(const Tensor& x0, const Tensor& eps, const Tensor& codes,
                                     const Tensor& labels, std::string_view trajectory,
                                     int64_t horizon, const Bias& bias,
                                     at::IntArrayRef undecodable) {
  const Exit exit = table_of(codes, bias, undecodable)
                        .exit_time(Trajectory(trajectory, horizon), x0, eps, labels);
  return {exit.time, exit.outside};
}

std::tuple<Tensor, Tensor, Tensor> decode_and_exit(const Tensor& x0, const Tensor& eps,
                                                   const Tensor& codes, std::string_view trajectory,
                                                   int64_t horizon, const Bias& bias,
                                                   at::IntArrayRef undecodable) {
  const DecodedExit found =
      table_of(codes, bias, undecodable).decode_and_exit(Trajectory(trajectory, horizon), x0, eps);
  return {found.labels, found.exit.time, found.exit.outside};
}

std::tuple<Tensor, Tensor, Tensor> stopping_times(const Tensor& x0, const Tensor& eps,
                                                  const Tensor& codes, const Tensor& labels,
                                                  std::string_view trajectory, int64_t horizon,
                                                  std::string_view no_exit, const Bias& bias,
                                                  at::IntArrayRef undecodable) {
  const StoppingTime found =
      stopping_time(Trajectory(trajectory, horizon), table_of(codes, bias, undecodable), x0, eps,
                    labels, parse_name<NoExit>(no_exit));
  return {found.t0, found.outside, found.no_exit};
}

// --- shapes alone, for torch.compile ---

Tensor times_like(const Tensor& points, c10::SymIntArrayRef shape) {
  return at::empty_symint(shape, points.options());
}
Tensor marks_like(const Tensor& points, c10::SymIntArrayRef shape) {
  return at::empty_symint(shape, points.options().dtype(at::kBool));
}

std::tuple<Tensor, Tensor> shapes_of_exit_time(const Tensor& x0, const Tensor&, const Tensor&,
                                               const Tensor& labels, std::string_view, int64_t,
                                               const Bias&, at::IntArrayRef) {
  return {times_like(x0, labels.sym_sizes()), marks_like(x0, labels.sym_sizes())};
}

std::tuple<Tensor, Tensor, Tensor> shapes_of_decode_and_exit(const Tensor& x0, const Tensor&,
                                                             const Tensor&, std::string_view,
                                                             int64_t, const Bias&,
                                                             at::IntArrayRef) {
  const c10::SymIntArrayRef shape = x0.sym_sizes().slice(0, x0.dim() - 1);
  return {at::empty_symint(shape, x0.options().dtype(at::kLong)), times_like(x0, shape),
          marks_like(x0, shape)};
}

std::tuple<Tensor, Tensor, Tensor> shapes_of_stopping_times(const Tensor& x0, const Tensor&,
                                                            const Tensor&, const Tensor& labels,
                                                            std::string_view, int64_t,
                                                            std::string_view, const Bias&,
                                                            at::IntArrayRef) {
  return {times_like(x0, labels.sym_sizes()), marks_like(x0, labels.sym_sizes()),
          marks_like(x0, labels.sym_sizes())};
}

// --- no gradients: exits are found below autograd, which then knows nothing of them ---

template <class Signature>
struct WithoutGradient;
template <class Result, class... Arguments>
struct WithoutGradient<Result(Arguments...)> {
  template <const char* name>
  static Result call(Arguments... arguments) {
    static const auto op =
        c10::Dispatcher::singleton().findSchemaOrThrow(name, "").typed<Result(Arguments...)>();
    const at::AutoDispatchBelowADInplaceOrView guard;
    return op.call(arguments...);
  }
};

constexpr char kExitTime[] = "tessera::exit_time";
constexpr char kDecodeAndExit[] = "tessera::decode_and_exit";
constexpr char kStoppingTime[] = "tessera::stopping_time";

}  // namespace

TORCH_LIBRARY(tessera, library) {
  const std::vector<at::Tag> tags{at::Tag::pt2_compliant_tag};
  library.def(
      "exit_time(Tensor x0, Tensor eps, Tensor codes, Tensor labels, str trajectory=\"ot\", "
      "int horizon=2000, Tensor? bias=None, int[] undecodable=[]) -> (Tensor time, Tensor outside)",
      tags);
  library.def(
      "decode_and_exit(Tensor x0, Tensor eps, Tensor codes, str trajectory=\"ot\", "
      "int horizon=2000, Tensor? bias=None, int[] undecodable=[]) "
      "-> (Tensor labels, Tensor time, Tensor outside)",
      tags);
  library.def(
      "stopping_time(Tensor x0, Tensor eps, Tensor codes, Tensor labels, str trajectory=\"ot\", "
      "int horizon=2000, str no_exit=\"full\", Tensor? bias=None, int[] undecodable=[]) "
      "-> (Tensor t0, Tensor outside, Tensor no_exit)",
      tags);
}

template <class Library>
void add_kernels(Library& library) {
  library.impl("exit_time", &exit_time);
  library.impl("decode_and_exit", &decode_and_exit);
  library.impl("stopping_time", &stopping_times);
}

TORCH_LIBRARY_IMPL(tessera, CPU, library) {
  add_kernels(library);
}
TORCH_LIBRARY_IMPL(tessera, CUDA, library) {
  add_kernels(library);
}
TORCH_LIBRARY_IMPL(tessera, Meta, library) {
  library.impl("exit_time", &shapes_of_exit_time);
  library.impl("decode_and_exit", &shapes_of_decode_and_exit);
  library.impl("stopping_time", &shapes_of_stopping_times);
}
TORCH_LIBRARY_IMPL(tessera, Autograd, library) {
  library.impl("exit_time", &WithoutGradient<decltype(exit_time)>::call<kExitTime>);
  library.impl("decode_and_exit",
               &WithoutGradient<decltype(decode_and_exit)>::call<kDecodeAndExit>);
  library.impl("stopping_time", &WithoutGradient<decltype(stopping_times)>::call<kStoppingTime>);
}

}  // namespace tessera::python
