#include "interruptible.h"
#include "keywords.h"

#include <tessera/engine/engine.h>

#include <ATen/ATen.h>
#include <pybind11/stl/filesystem.h>

#include <variant>

namespace tessera::python {
namespace {

// A model of images: an engine and the options of its requests.
struct BoundImages {
  Engine engine;
  uint64_t seed;
  SampleOptions options;

  BoundImages(const std::filesystem::path& folder, const LoadOptions& load, uint64_t given_seed,
              const SampleOptions& given)
      : engine(folder, load), seed(given_seed), options(given) {
    engine.in_effect(options);  // throws for options that make no sense
  }
};

// The same memory as a tensor.
at::Tensor tensor_of(Images&& images) {
  auto* kept = new Images(std::move(images));
  return at::from_blob(
      kept->values.data(), {kept->count, kept->height, kept->width, kept->channels},
      [kept](void*) { delete kept; }, at::kByte);
}

at::Tensor sample_images(const BoundImages& sampler, int64_t count, int64_t first,
                         const std::variant<std::string, int64_t>& label,
                         const std::optional<uint64_t>& seed, const py::kwargs& changes) {
  ImageRequest request{.count = count,
                       .first = first,
                       .label = std::holds_alternative<std::string>(label)
                                    ? std::get<std::string>(label)
                                    : std::to_string(std::get<int64_t>(label)),
                       .seed = seed.value_or(sampler.seed),
                       .options = sampler.options};
  set_options("sample", changes, request.options);
  return interruptible([&](const std::stop_token& stop) {
    request.stop = stop;
    ImageResult result = sampler.engine.run(std::span<const ImageRequest>(&request, 1)).front();
    if (!stop.stop_requested()) result.require_done();
    return tensor_of(std::move(result.images));
  });
}

}  // namespace

void bind_images(py::module_& module) {
  py::options options;
  options.disable_function_signatures();
  std::string sample_doc = written(
      {.name = "sample",
       .leading = "self, count: int, first: int = 0, label: str | int = ''",
       .own = "seed: int | None = None",
       .keywords = image_parameters(),
       .result = "torch.Tensor",
       .text = "Images number first, ..., first + count - 1, as uint8 [count, height, width, "
               "channels]. Image n is a function of (seed, n).\n"
               "label is a class by name or number; empty: all in turn, if the model knows some."});
  sample_doc.resize(sample_doc.find("\n    steps: "));  // meanings stand with the class
  py::class_<BoundImages>(module, "ImageSampler",
                          "A trained model of images. Threads may share one.")
      .def(py::init([](const std::filesystem::path& folder, const std::string& device,
                       const std::string& precision, const std::string& checkpoint, uint64_t seed,
                       const py::kwargs& given) {
             SampleOptions set;
             set_options("ImageSampler", given, set);
             const py::gil_scoped_release released;
             return std::make_unique<BoundImages>(
                 folder,
                 LoadOptions{.device = device, .precision = precision, .checkpoint = checkpoint},
                 seed, set);
           }),
           py::arg("folder"), py::kw_only(), py::arg("device") = LoadOptions().device,
           py::arg("precision") = LoadOptions().precision,
           py::arg("checkpoint") = LoadOptions().checkpoint, py::arg("seed") = ImageRequest().seed,
           written({.leading = "self, folder: str | os.PathLike[str]",
                    .own = "device: str = 'auto', precision: str = 'auto', checkpoint: str = '', "
                           "seed: int = 1",
                    .keywords = image_parameters(),
                    .text = "From a model folder, or the folder of a training run. Options that "
                            "are not set come from the folder; a call can change them.\n"
                            "    device: auto, cpu, cuda or cuda:N\n"
                            "    precision: float32, bfloat16, or auto: bfloat16 on CUDA only\n"
                            "    checkpoint: of a run: best, last or a step; empty: best, else "
                            "last"})
               .c_str())
      .def("sample", &sample_images, py::arg("count"), py::arg("first") = 0, py::arg("label") = "",
           py::kw_only(), py::arg("seed") = py::none(), sample_doc.c_str())
      .def(
          "options",
          [](const BoundImages& sampler, const py::kwargs& changes) {
            SampleOptions changed = sampler.options;
            set_options("options", changes, changed);
            return effective_options(sampler.engine.in_effect(changed));
          },
          "options(self, **changes: typing.Any) -> dict[str, typing.Any]\n\n"
          "All options as they are in effect with these changes.")
      .def_property_readonly("classes", [](const BoundImages& s) { return s.engine.classes(); })
      .def_property_readonly(
          "shape",
          [](const BoundImages& s) {
            const Images size = s.engine.image_size();
            return std::array{size.height, size.width, size.channels};
          },
          "height, width and channels of an image")
      .def_property_readonly("folder", [](const BoundImages& s) { return s.engine.folder(); });
}

}  // namespace tessera::python
