#include "codebook/declare.h"
#include "keywords.h"
#include "tensor_like.h"

#include <tessera/codebook/bits.h>
#include <tessera/codebook/embedding_table.h>
#include <tessera/process/boundary.h>

namespace tessera::python {
namespace {

std::vector<Parameter> table_parameters() {
  EmbeddingTableOptions options;
  return parameters_of([&](config::Schema& schema) { declare(schema, "", options); });
}

std::vector<Parameter> bits_parameters() {
  BitsOptions options;
  return parameters_of([&](config::Schema& schema) { declare(schema, "", options); });
}

void bind_results(py::module_& module) {
  py::class_<Exit>(module, "Exit", "When paths leave the cells they start in.")
      .def_readonly("time", &Exit::time, "[...] of the first exit; infinite where there is none")
      .def_readonly("outside", &Exit::outside, "[...] bool: x0 was outside; the time is 0");
  py::class_<DecodedExit>(module, "DecodedExit")
      .def_readonly("labels", &DecodedExit::labels, "[...] int64: what x0 decodes to")
      .def_readonly("exit", &DecodedExit::exit);
  py::class_<StoppingTime>(module, "StoppingTime")
      .def_readonly("t0", &StoppingTime::t0, "[...] in [0, horizon]")
      .def_readonly("outside", &StoppingTime::outside, "[...] bool: x0 was outside; t0 is 0")
      .def_readonly("no_exit", &StoppingTime::no_exit, "[...] bool: the path never leaves");
}

void bind_codebook(py::module_& module) {
  py::class_<Codebook>(module, "Codebook",
                       "Symbols and the points that stand for them. A point decodes to the symbol "
                       "with the largest score; the points of a symbol are its cell.\n\n"
                       "Shapes: labels [...] int64, points [..., dim].")
      .def_property_readonly("symbols", &Codebook::symbols)
      .def_property_readonly("dim", &Codebook::dim)
      .def_property_readonly("decodable", &Codebook::decodable,
                             "How many symbols points can decode to.")
      .def(
          "encode", [](const Codebook& c, const TensorLike& labels) { return c.encode(labels); },
          py::arg("labels"), Released(), "[...] -> [..., dim]; gradients flow to the weight.")
      .def(
          "decode", [](const Codebook& c, const TensorLike& x) { return c.decode(x); },
          py::arg("x"), Released(), "[..., dim] -> [...]")
      .def(
          "scores", [](const Codebook& c, const TensorLike& x) { return c.scores(x); },
          py::arg("x"), Released(),
          "[..., dim] -> [..., symbols], -inf for symbols that cannot be decoded.")
      .def(
          "cross_entropy",
          [](const Codebook& c, const TensorLike& x, const TensorLike& labels, double smoothing) {
            return c.cross_entropy(x, labels, smoothing);
          },
          py::arg("x"), py::arg("labels"), py::arg("label_smoothing") = 0.0, Released(),
          "Of the softmax over the scores; 0 for labels that cannot be decoded.  -> [...]")
      .def(
          "mean",
          [](const Codebook& c, const TensorLike& x, double logit_scale) {
            return c.mean(x, logit_scale);
          },
          py::arg("x"), py::arg("logit_scale") = 1.0, Released(),
          "The mean of the codes under the softmax over the scores; without gradients.")
      .def(
          "exit_time",
          [](const Codebook& c, const Trajectory& trajectory, const TensorLike& x0,
             const TensorLike& eps,
             const TensorLike& labels) { return c.exit_time(trajectory, x0, eps, labels); },
          py::arg("trajectory"), py::arg("x0"), py::arg("eps"), py::arg("labels"), Released(),
          "First exit of the paths u * x0 + v * eps from the cells of the labels.")
      .def(
          "decode_and_exit",
          [](const Codebook& c, const Trajectory& trajectory, const TensorLike& x0,
             const TensorLike& eps) { return c.decode_and_exit(trajectory, x0, eps); },
          py::arg("trajectory"), py::arg("x0"), py::arg("eps"), Released(),
          "The same for the cells that x0 lies in, with one set of scores for both.")
      .def(
          "stopping_time",
          [](const Codebook& c, const Trajectory& trajectory, const TensorLike& x0,
             const TensorLike& eps, const TensorLike& labels, const std::string& no_exit) {
            return stopping_time(trajectory, c, x0, eps, labels, parse_name<NoExit>(no_exit));
          },
          py::arg("trajectory"), py::arg("x0"), py::arg("eps"), py::arg("labels"),
          py::arg("no_exit") = std::string(name_of(NoExit::full)), Released(),
          "The exit, with a finite time for paths that never leave: 'full' is the horizon, 'zero' "
          "is 0.");
}

}  // namespace

void bind_codebooks(py::module_& module) {
  bind_results(module);
  bind_codebook(module);

  py::options options;
  options.disable_function_signatures();
  py::class_<EmbeddingTable, Codebook>(
      module, "EmbeddingTable",
      "One code per symbol: score j of x is x . code_j + bias_j. Call refresh() after the weight "
      "has changed.")
      .def(py::init([](const TensorLike& weight, const std::optional<TensorLike>& bias,
                       const py::kwargs& given) {
             EmbeddingTableOptions set;
             set_options("EmbeddingTable", given,
                         [&](config::Schema& schema) { declare(schema, "", set); });
             return std::make_unique<EmbeddingTable>(weight, set, tensor_or_none(bias));
           }),
           py::arg("weight"), py::kw_only(), py::arg("bias") = py::none(),
           written({.leading = "self, weight: torch.Tensor | numpy.ndarray",
                    .own = "bias: torch.Tensor | numpy.ndarray | None = None",
                    .keywords = table_parameters(),
                    .text = "From a weight [symbols, dim], which is not copied; codes carry its "
                            "gradient. bias [symbols]."})
               .c_str())
      .def("refresh", &EmbeddingTable::refresh, Released(),
           "refresh(self) -> None\n\nNormalises the codes again: once per update of the weight.")
      .def_property_readonly(
          "codes", [](const EmbeddingTable& table) { return table.codes(); },
          "[symbols, dim] as they are used, normalised");
  py::class_<Bits, Codebook>(module, "Bits",
                             "Symbols as vectors of +size and -size, a number for every bit.")
      .def(
          py::init([](const py::object& width, const std::string& device, const py::kwargs& given) {
            BitsOptions set;
            set_options("Bits", with(given, "width", width),
                        [&](config::Schema& schema) { declare(schema, "", set); });
            return std::make_unique<Bits>(set, at::Device(device));
          }),
          py::arg("width") = py::none(), py::kw_only(), py::arg("device") = "cpu",
          written({.positional = "width",
                   .own = "device: str = 'cpu'",
                   .keywords = bits_parameters(),
                   .text = "All 2^width patterns are symbols."})
              .c_str());
}

}  // namespace tessera::python
