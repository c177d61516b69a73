#include "bindings.h"

#include <tessera/evaluation/text_scores.h>

#include <variant>

namespace tessera::python {
namespace {

using Document = std::vector<std::string>;
// One document, or several.
using References = std::variant<Document, std::vector<Document>>;

std::vector<TextScore> scores_of(const Document& hypotheses, const References& references,
                                 const TextScoreOptions& options) {
  if (const auto* one = std::get_if<Document>(&references))
    return score_texts(hypotheses, std::span<const Document>(one, 1), options);
  return score_texts(hypotheses, std::get<std::vector<Document>>(references), options);
}

TextScore bleu(const Document& hypotheses, const References& references,
               const std::optional<std::string>& tokenization, const std::string& smoothing,
               bool lowercase, const Document& compare_with, int samples, uint64_t seed) {
  return scores_of(hypotheses, references,
                   {.metrics = {"bleu"},
                    .tokenization = tokenization,
                    .smoothing = smoothing,
                    .lowercase = lowercase,
                    .compare_with = compare_with,
                    .samples = samples,
                    .seed = seed})
      .front();
}

TextScore chrf(const Document& hypotheses, const References& references, bool words, bool lowercase,
               const Document& compare_with, int samples, uint64_t seed) {
  return scores_of(hypotheses, references,
                   {.metrics = {words ? "chrf++" : "chrf"},
                    .lowercase = lowercase,
                    .compare_with = compare_with,
                    .samples = samples,
                    .seed = seed})
      .front();
}

std::map<std::string, TextScore> rouge(const Document& hypotheses, const References& references,
                                       const Document& compare_with, int samples, uint64_t seed) {
  std::map<std::string, TextScore> by_name;
  for (TextScore& each : scores_of(
           hypotheses, references,
           {.metrics = {"rouge"}, .compare_with = compare_with, .samples = samples, .seed = seed}))
    by_name.emplace(each.name, std::move(each));
  return by_name;
}

void bind_scores(py::module_& module) {
  py::class_<BleuParts>(module, "BleuParts", "What a BLEU score is made of.")
      .def_readonly("precisions", &BleuParts::precisions, "of n-grams, in percent")
      .def_readonly("cumulative", &BleuParts::cumulative, "BLEU-1 to BLEU-4")
      .def_readonly("brevity_penalty", &BleuParts::brevity_penalty)
      .def_readonly("ratio", &BleuParts::ratio, "hyp_len / ref_len")
      .def_readonly("hyp_len", &BleuParts::hyp_len, "words")
      .def_readonly("ref_len", &BleuParts::ref_len, "words");
  py::class_<ChrfParts>(module, "ChrfParts")
      .def_readonly("char_order", &ChrfParts::char_order)
      .def_readonly("word_order", &ChrfParts::word_order)
      .def_readonly("beta", &ChrfParts::beta);
  py::class_<RougeParts>(module, "RougeParts")
      .def_readonly("precision", &RougeParts::precision)
      .def_readonly("recall", &RougeParts::recall)
      .def_readonly("f1", &RougeParts::f1);
  py::class_<ScoreInterval>(module, "ScoreInterval", "A score and where it would lie on others.")
      .def_readonly("score", &ScoreInterval::score)
      .def_readonly("mean", &ScoreInterval::mean)
      .def_readonly("low", &ScoreInterval::low)
      .def_readonly("high", &ScoreInterval::high);
  py::class_<ScoreComparison>(module, "ScoreComparison",
                              "Two systems compared on the same lines, resampled many times.")
      .def_readonly("signature", &ScoreComparison::signature)
      .def_property_readonly("baseline", [](const ScoreComparison& c) { return c.result.baseline; })
      .def_property_readonly("system", [](const ScoreComparison& c) { return c.result.system; })
      .def_property_readonly("difference",
                             [](const ScoreComparison& c) { return c.result.difference; })
      .def_property_readonly(
          "p_value", [](const ScoreComparison& c) { return c.result.p_value; },
          "how often chance alone would make a difference this large");
  py::class_<TextScore>(module, "Score", "One score of all texts; float(score) is its value.")
      .def_readonly("name", &TextScore::name)
      .def_readonly("score", &TextScore::score, "0 to 100")
      .def_readonly("signature", &TextScore::signature, "what must be known to repeat it")
      .def_readonly("parts", &TextScore::parts)
      .def_readonly("sentences", &TextScore::sentences, "the score of every text")
      .def_readonly("comparison", &TextScore::comparison, "None: there is nothing to compare with")
      .def("__float__", [](const TextScore& s) { return s.score; })
      .def("__str__", [](const TextScore& s) { return s.line; });
}

}  // namespace

void bind_metrics(py::module_& module) {
  bind_scores(module);
  const TextScoreOptions usual;
  module.def(
      "bleu", &bleu, py::arg("hypotheses"), py::arg("references"), py::kw_only(),
      py::arg("tokenization") = usual.tokenization, py::arg("smoothing") = usual.smoothing,
      py::arg("lowercase") = usual.lowercase, py::arg("compare_with") = usual.compare_with,
      py::arg("samples") = usual.samples, py::arg("seed") = usual.seed, Released(),
      "Corpus BLEU as sacreBLEU computes it.\n"
      "    references    one document, or several, each with as many lines as there are "
      "hypotheses\n"
      "    tokenization  13a (the default), none, or moses-13a\n"
      "    smoothing     exp, floor, add-k or none\n"
      "    compare_with  another system's lines: adds a paired bootstrap of so many samples");
  module.def("chrf", &chrf, py::arg("hypotheses"), py::arg("references"), py::kw_only(),
             py::arg("words") = false, py::arg("lowercase") = usual.lowercase,
             py::arg("compare_with") = usual.compare_with, py::arg("samples") = usual.samples,
             py::arg("seed") = usual.seed, Released(),
             "Corpus chrF2 as sacreBLEU computes it; with words, chrF2++.");
  module.def("rouge", &rouge, py::arg("hypotheses"), py::arg("references"), py::kw_only(),
             py::arg("compare_with") = usual.compare_with, py::arg("samples") = usual.samples,
             py::arg("seed") = usual.seed, Released(),
             "ROUGE-1, ROUGE-2 and ROUGE-L as rouge_score computes them, by name.");
}

}  // namespace tessera::python
