#include "base/require.h"
#include "bindings.h"
#include "corpus/corpus.h"
#include "corpus/date_pairs.h"
#include "text/tokenizer.h"

#include <pybind11/numpy.h>
#include <pybind11/stl/filesystem.h>

namespace tessera::python {
namespace {

using text::Id;
using text::Tokenizer;

// A copy of its own.
py::array_t<Id> array_of(const std::vector<Id>& ids) {
  return py::array_t<Id>(static_cast<py::ssize_t>(ids.size()), ids.data());
}

// A view that cannot be written to; `owner` keeps the memory.
py::array_t<Id> view_of(std::span<const Id> ids, const py::handle& owner) {
  py::array_t<Id> view(static_cast<py::ssize_t>(ids.size()), ids.data(), owner);
  view.attr("flags").attr("writeable") = false;
  return view;
}

int64_t place_of(const corpus::Split& split, int64_t index) {
  const int64_t place = index < 0 ? index + split.size() : index;
  if (place < 0 || place >= split.size())
    throw py::index_error(
        fmt::format("there is no pair {}: the split has {}", index, split.size()));
  return place;
}

void bind_tokenizer(py::module_& module) {
  py::class_<Tokenizer>(module, "Tokenizer", "Lines of text to symbols and back.")
      .def(py::init([](const std::filesystem::path& folder) { return Tokenizer::load(folder); }),
           py::arg("folder"), Released(), "From the folder of a model or of a corpus.")
      .def(
          "encode",
          [](const Tokenizer& t, const std::string& line) { return array_of(t.encode(line)); },
          py::arg("line"), "Numbers of the symbols, int32, without the end symbol.")
      .def(
          "encode",
          [](const Tokenizer& t, const std::vector<std::string>& lines) {
            std::vector<std::vector<Id>> all;
            {
              const py::gil_scoped_release released;
              for (const std::string& line : lines) all.push_back(t.encode(line));
            }
            std::vector<py::array_t<Id>> arrays;
            for (const std::vector<Id>& ids : all) arrays.push_back(array_of(ids));
            return arrays;
          },
          py::arg("lines"))
      .def(
          "decode", [](const Tokenizer& t, const std::vector<Id>& ids) { return t.decode(ids); },
          py::arg("ids"), "The text, up to the first end symbol.")
      .def(
          "pieces",
          [](const Tokenizer& t, const std::vector<Id>& ids) {
            std::vector<std::string> pieces;
            for (const Id id : ids) pieces.push_back(t.dictionary().symbol(id));
            return pieces;
          },
          py::arg("ids"), "The symbols as they are: 'kle@@', 'iner', '</s>'.")
      .def(
          "id",
          [](const Tokenizer& t, const std::string& symbol) { return t.dictionary().id(symbol); },
          py::arg("symbol"), "The number of a symbol, that of <unk> where it is unknown.")
      .def("__len__", [](const Tokenizer& t) { return t.dictionary().size(); })
      .def_readonly_static("bos", &text::Dictionary::kBos)
      .def_readonly_static("pad", &text::Dictionary::kPad)
      .def_readonly_static("eos", &text::Dictionary::kEos)
      .def_readonly_static("unk", &text::Dictionary::kUnk);
}

void bind_corpus(py::module_& module) {
  py::class_<corpus::Split>(module, "Split", "Pairs of sentences as numbers of symbols.")
      .def("__len__", &corpus::Split::size)
      .def(
          "source",
          [](const py::object& self, int64_t index) {
            const auto& split = py::cast<const corpus::Split&>(self);
            return view_of(split.source(place_of(split, index)), self);
          },
          py::arg("index"),
          "int32, with the end symbol: a view of the file, which it keeps mapped.")
      .def(
          "target",
          [](const py::object& self, int64_t index) {
            const auto& split = py::cast<const corpus::Split&>(self);
            return view_of(split.target(place_of(split, index)), self);
          },
          py::arg("index"), "The same of the target.")
      .def_property_readonly("source_lines", &corpus::Split::source_lines,
                             "The lines as they were given; the training split keeps none.")
      .def_property_readonly("target_lines", &corpus::Split::target_lines);
  py::class_<corpus::Corpus>(module, "Corpus", "A folder that `tessera prepare` wrote.")
      .def(py::init(
               [](const std::filesystem::path& folder) { return corpus::Corpus::open(folder); }),
           py::arg("folder"), Released())
      .def_property_readonly("splits",
                             [](const corpus::Corpus& c) {
                               std::vector<std::string> names;
                               for (const auto& [name, counts] : c.manifest().splits)
                                 names.push_back(name);
                               return names;
                             })
      .def(
          "__getitem__",
          [](const corpus::Corpus& c, const std::string& split) { return c.split(split); },
          py::arg("split"))
      .def("__contains__", &corpus::Corpus::has, py::arg("split"))
      .def_property_readonly("tokenizer", [](const corpus::Corpus& c) { return c.tokenizer(); })
      .def_property_readonly("fingerprint", &corpus::Corpus::fingerprint)
      .def_property_readonly("unused_in_targets", &corpus::Corpus::unused_in_targets,
                             "Symbols that no training target has: nothing should decode to them.");
}

}  // namespace

void bind_data(py::module_& module) {
  bind_tokenizer(module);
  bind_corpus(module);
  using Pairs = std::vector<std::pair<std::string, std::string>>;
  module.def(
      "date_pairs",
      [](uint64_t seed, int64_t pairs) {
        const corpus::DatePairs made = corpus::make_date_pairs(seed, pairs);
        std::map<std::string, Pairs> splits;
        for (const auto& [name, all] :
             {std::pair("train", &made.train), {"valid", &made.valid}, {"test", &made.test}})
          for (const auto& [source, target] : *all) splits[name].emplace_back(source, target);
        return splits;
      },
      py::arg("seed") = 1, py::arg("pairs") = corpus::kDatePairs, Released(),
      "Dates in many spellings and their ISO forms, by split: 'train', 'valid', 'test'. No date of "
      "one split occurs in another.");
}

}  // namespace tessera::python
