#include "keywords.h"
#include "process/declare.h"
#include "tensor_like.h"

#include <tessera/process/sampler.h>

#include <ATen/ATen.h>

#include <utility>
#include <variant>

namespace tessera::python {
namespace {

// As in a configuration, and what models set themselves.
void declare_sampler(config::Schema& schema, SamplerOptions& options) {
  declare_steps(schema, "", options);
  declare_paths(schema, "", options);
  schema.option("shown", options.shown,
                "form in which the network sees its last estimate: that of training");
  schema
      .option("logit_scale", options.logit_scale,
              "points are multiplied by it before they are scored: as in the objective")
      .above(0);
}

std::vector<Parameter> sampler_parameters() {
  SamplerOptions options;
  return parameters_of([&](config::Schema& schema) { declare_sampler(schema, options); });
}

// How many samples, or their numbers.
using Samples = std::variant<TensorLike, int64_t>;

at::Tensor numbers_of(const Samples& samples, const Codebook& codebook) {
  if (const auto* given = std::get_if<TensorLike>(&samples)) return given->tensor;
  return at::arange(std::get<int64_t>(samples), at::kLong).to(codebook.device());
}

// A sampler and the codebook it asks, which Python keeps alive.
struct BoundSampler {
  const Codebook* codebook;
  Sampler sampler;
};

// False stops, and so Python's functions that return nothing do not.
using PythonCallback = std::function<py::object(const SampleStep&)>;

StepCallback callback_of(const std::optional<py::function>& callback) {
  if (!callback) return {};
  return [function = *callback](const SampleStep& step) {
    const py::gil_scoped_acquire acquired;
    const py::object answer = function(step);
    return answer.is_none() || py::cast<bool>(answer);
  };
}

Denoiser denoiser_of(const py::function& function) {
  return [function](const at::Tensor& x, const at::Tensor& t, const at::Tensor& previous) {
    const py::gil_scoped_acquire acquired;
    return py::cast<at::Tensor>(function(x, t, previous));
  };
}

void bind_steps(py::module_& module) {
  py::class_<SampleStep>(module, "SampleStep",
                         "The state before a step, and the estimate made from it.")
      .def_readonly("index", &SampleStep::index, "from 0")
      .def_readonly("t", &SampleStep::t, "the time told to the network")
      .def_readonly("x", &SampleStep::x, "[B, ..., dim] the noisy points given to the network")
      .def_readonly("tau", &SampleStep::tau, "[B, ...] their rescaled times")
      .def_readonly("eps_hat", &SampleStep::eps_hat, "[B, ..., dim] the noise end of their paths")
      .def_readonly("x0_hat", &SampleStep::x0_hat, "[B, ..., dim] the network's estimate")
      .def_readonly("labels", &SampleStep::labels, "[B, ...] what it decodes to");
  py::class_<Sample>(module, "Sample")
      .def_readonly("labels", &Sample::labels, "[B, ...] int64")
      .def_readonly("x0", &Sample::x0, "[B, ..., dim] the last estimate")
      .def_readonly("calls", &Sample::calls, "network calls made");
}

}  // namespace

void bind_sampler(py::module_& module) {
  bind_steps(module);
  py::class_<BoundSampler> sampler(
      module, "Sampler",
      "The reverse process (Algorithm 2): symbols from noise. Runs without gradients.");
  {
    py::options options;
    options.disable_function_signatures();
    const std::string doc = written(
        {.leading = "self, process: tessera._tessera.Process, "
                    "codebook: tessera._tessera.Codebook, "
                    "denoiser: collections.abc.Callable[[torch.Tensor, torch.Tensor, "
                    "torch.Tensor], torch.Tensor]",
         .keywords = sampler_parameters(),
         .text = "The denoiser is any callable: denoiser(x, t, previous) -> x0_hat, with x and "
                 "previous [B, ..., dim] and t [B]. `previous` is its last estimate, zeros at "
                 "first."});
    sampler.def(
        py::init([](const Process& process, const Codebook& codebook, const py::function& denoiser,
                    const py::kwargs& given) {
          SamplerOptions set;
          set_options("Sampler", given,
                      [&](config::Schema& schema) { declare_sampler(schema, set); });
          return BoundSampler{&codebook, Sampler(process, codebook, denoiser_of(denoiser), set)};
        }),
        py::arg("process"), py::arg("codebook"), py::arg("denoiser"), py::keep_alive<1, 3>(),
        doc.c_str());
  }
  sampler
      .def_property_readonly(
          "times", [](const BoundSampler& s) { return s.sampler.times(); },
          "Times of the network calls, descending, and the one that ends the last step.")
      .def_property_readonly("calls", [](const BoundSampler& s) { return s.sampler.calls(); })
      .def(
          "run",
          [](const BoundSampler& s, const Samples& samples, const std::vector<int64_t>& shape,
             const std::optional<py::function>& callback, const std::optional<TensorLike>& seeds) {
            const StepCallback each = callback_of(callback);
            const at::Tensor rows = tensor_or_none(seeds);
            const py::gil_scoped_release released;
            return s.sampler.run(numbers_of(samples, *s.codebook), shape, each, rows);
          },
          py::arg("samples"), py::arg("shape"), py::arg("callback") = py::none(), py::kw_only(),
          py::arg("seeds") = py::none(),
          "Makes samples from noise, which is a function of (seed, sample).\n"
          "    samples   how many, or their numbers [B] int64\n"
          "    shape     of one sample: (..., dim)\n"
          "    callback  sees every step (SampleStep); returns False to stop\n"
          "    seeds     [B] int64: of every sample, instead of the option `seed`")
      .def(
          "run_from",
          [](const BoundSampler& s, const TensorLike& noise, const std::optional<Samples>& samples,
             const std::optional<py::function>& callback, const std::optional<TensorLike>& seeds) {
            const StepCallback each = callback_of(callback);
            const at::Tensor rows = tensor_or_none(seeds);
            const py::gil_scoped_release released;
            return s.sampler.run_from(
                noise, numbers_of(samples.value_or(noise.tensor.size(0)), *s.codebook), each, rows);
          },
          py::arg("noise"), py::arg("samples") = py::none(), py::arg("callback") = py::none(),
          py::kw_only(), py::arg("seeds") = py::none(),
          "The same from the given noise [B, ..., dim].");
}

}  // namespace tessera::python
