#include "base/require.h"
#include "engine/text_engine.h"
#include "interruptible.h"
#include "keywords.h"

#include <tessera/engine/engine.h>

#include <ATen/ATen.h>
#include <pybind11/stl/filesystem.h>

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <variant>

namespace tessera::python {
namespace {

using Texts = std::variant<std::string, std::vector<std::string>>;

// A step, with what is needed to write its symbols.
struct TranslationStep {
  TextStep step;
  text::Tokenizer tokenizer;

  // Symbols of the labels, without padding.
  std::vector<std::vector<text::Id>> rows() const {
    const at::Tensor ids = step.sample.labels.cpu().to(at::kInt).contiguous();
    const at::Tensor lengths = step.visible.sum(-1).cpu();
    std::vector<std::vector<text::Id>> rows;
    for (int64_t k = 0; k < ids.size(0); ++k) {
      const auto* first = ids.const_data_ptr<text::Id>() + k * ids.size(1);
      rows.emplace_back(first, first + lengths.const_data_ptr<int64_t>()[k]);
    }
    return rows;
  }
};

// A model that translates: an engine and the options of its requests.
class Translator {
 public:
  Translator(const std::filesystem::path& folder, const LoadOptions& load, uint64_t seed,
             GenerateOptions options)
      : engine_(folder, load), seed_(seed), options_(std::move(options)) {
    engine_.in_effect(options_);  // throws for options that make no sense
  }

  const Engine& engine() const { return engine_; }
  const text::Tokenizer& tokenizer() const { return engine_.text().tokenizer(); }

  // The request of a call, which may have options of its own.
  TextRequest request(const std::string& function, const std::string& text,
                      const std::optional<uint64_t>& seed, const py::kwargs& changes) const {
    TextRequest made{.text = text, .seed = seed.value_or(seed_), .options = options_};
    set_options(function, changes, made.options);
    return made;
  }

  std::vector<TextResult> run(std::vector<TextRequest> requests) const {
    return interruptible([&](const std::stop_token& stop) {
      for (TextRequest& each : requests) each.stop = stop;
      std::vector<TextResult> results = engine_.run(requests);
      if (!stop.stop_requested())
        for (const TextResult& each : results) each.require_done();
      return results;
    });
  }

 private:
  Engine engine_;
  uint64_t seed_;
  GenerateOptions options_;
};

// The steps of a translation, one after the other: the model works in a thread, one step ahead.
class Steps {
 public:
  Steps(const Translator& translator, TextRequest request)
      : translator_(&translator), request_(std::move(request)) {
    request_.stop = stop_.get_token();
    request_.on_step = [this](const TextStep& step) { offer(step); };
    thread_ = std::thread([this] { work(); });
  }
  ~Steps() {
    const py::gil_scoped_release released;
    stop_.request_stop();
    changed_.notify_all();
    thread_.join();
  }
  Steps(const Steps&) = delete;
  Steps& operator=(const Steps&) = delete;

  TranslationStep next() {
    if (!wait([this] { return !steps_.empty() || done_; })) throw py::error_already_set();
    const std::lock_guard lock(mutex_);
    if (steps_.empty()) {
      if (failure_) std::rethrow_exception(failure_);
      throw py::stop_iteration();
    }
    TranslationStep step{std::move(steps_.front()), translator_->tokenizer()};
    steps_.pop_front();
    changed_.notify_all();
    return step;
  }

  // Steps that nobody has taken are dropped.
  TextResult result() {
    {
      const std::lock_guard lock(mutex_);
      wanted_ = false;
      steps_.clear();
    }
    changed_.notify_all();
    if (!wait([this] { return done_; })) throw py::error_already_set();
    const std::lock_guard lock(mutex_);
    if (failure_) std::rethrow_exception(failure_);
    return result_;
  }

 private:
  void offer(const TextStep& step) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock,
                  [&] { return steps_.empty() || !wanted_ || stop_.get_token().stop_requested(); });
    if (wanted_) steps_.push_back(step);
    changed_.notify_all();
  }

  void work() {
    std::exception_ptr failure;
    TextResult result;
    try {
      result = translator_->engine().run(std::span<const TextRequest>(&request_, 1)).front();
      result.require_done();
    } catch (...) {
      failure = std::current_exception();
    }
    const std::lock_guard lock(mutex_);
    result_ = std::move(result);
    failure_ = failure;
    done_ = true;
    changed_.notify_all();
  }

  // False where a signal has raised something.
  template <class Condition>
  bool wait(const Condition& condition) {
    const py::gil_scoped_release released;
    for (;;) {
      {
        std::unique_lock lock(mutex_);
        if (changed_.wait_for(lock, std::chrono::milliseconds(50), condition)) return true;
      }
      const py::gil_scoped_acquire acquired;
      if (PyErr_CheckSignals() != 0) return false;
    }
  }

  const Translator* translator_;
  TextRequest request_;
  std::stop_source stop_;
  std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  std::deque<TextStep> steps_;
  bool wanted_ = true, done_ = false;
  TextResult result_;
  std::exception_ptr failure_;
  std::thread thread_;
};

using Optional = std::optional<uint64_t>;

std::vector<TextResult> results_of(const std::string& function, const Translator& translator,
                                   const Texts& texts, const Optional& seed,
                                   const py::kwargs& changes, bool candidate_texts) {
  std::vector<TextRequest> requests;
  const auto add = [&](const std::string& text) {
    if (requests.empty()) {
      requests.push_back(translator.request(function, text, seed, changes));
      requests.back().candidate_texts = candidate_texts;
    } else {
      requests.push_back(requests.front());
      requests.back().text = text;
    }
  };
  if (const auto* one = std::get_if<std::string>(&texts))
    add(*one);
  else
    for (const std::string& text : std::get<std::vector<std::string>>(texts)) add(text);
  return translator.run(std::move(requests));
}

py::object translate_texts(const Translator& translator, const Texts& texts, const Optional& seed,
                           const py::kwargs& changes) {
  std::vector<std::string> translations;
  for (TextResult& each :
       results_of("Translator", translator, texts, seed, changes, /*candidate_texts=*/false))
    translations.push_back(std::move(each.text));
  if (std::holds_alternative<std::string>(texts)) return py::cast(translations.front());
  return py::cast(translations);
}

py::object candidates_of(const Translator& translator, const Texts& texts, const Optional& seed,
                         const py::kwargs& changes) {
  std::vector<TextResult> results =
      results_of("candidates", translator, texts, seed, changes, /*candidate_texts=*/true);
  if (std::holds_alternative<std::string>(texts)) return py::cast(std::move(results.front()));
  return py::cast(std::move(results));
}

py::object watch(const Translator& translator, const std::string& text,
                 const py::function& callback, const Optional& seed, const py::kwargs& changes) {
  TextRequest request = translator.request("watch", text, seed, changes);
  bool stopped = false;
  TextResult result = interruptible([&](const std::stop_token& interrupted) {
    std::stop_source stop;
    const std::stop_callback pass_on(interrupted, [&] { stop.request_stop(); });
    request.stop = stop.get_token();
    request.on_step = [&](const TextStep& step) {
      const py::gil_scoped_acquire acquired;
      const py::object answer = callback(TranslationStep{step, translator.tokenizer()});
      if (answer.is_none() || py::cast<bool>(answer)) return;
      stopped = true;
      stop.request_stop();
    };
    TextResult made = translator.engine().run(std::span<const TextRequest>(&request, 1)).front();
    if (!stop.stop_requested()) made.require_done();
    return made;
  });
  if (stopped) return py::none();
  return py::cast(std::move(result));
}

void bind_translation(py::module_& module) {
  using Candidate = TextResult::Candidate;
  py::class_<Candidate>(module, "Candidate")
      .def_readonly("text", &Candidate::text)
      .def_readonly("symbols", &Candidate::symbols, "without the end symbol")
      .def_readonly("length", &Candidate::length, "symbols there was room for, end included")
      .def_readonly("confidence", &Candidate::confidence, "mean log-probability of its symbols")
      .def_readonly("expected_bleu", &Candidate::expected_bleu,
                    "sentence BLEU against the other candidates, mean, 0 to 100")
      .def_readonly("score", &Candidate::score, "the one that decided the choice");
  py::class_<TextResult>(module, "Translation", "A translation and how it was chosen.")
      .def_readonly("text", &TextResult::text)
      .def_readonly("candidates", &TextResult::candidates)
      .def_readonly("chosen", &TextResult::chosen, "the place of `text` among the candidates")
      .def_readonly("ranking", &TextResult::ranking, "places of the candidates, best first")
      .def_readonly("predicted_length", &TextResult::predicted_length, "symbols, end included")
      .def_readonly("nfe", &TextResult::nfe, "network calls")
      .def_readonly("truncated", &TextResult::truncated,
                    "the text was longer than the model can read");
  py::class_<TranslationStep>(module, "TranslationStep",
                              "A step of a diffusion model.   K candidates, L padded length")
      .def_property_readonly("index", [](const TranslationStep& s) { return s.step.sample.index; })
      .def_property_readonly(
          "calls", [](const TranslationStep& s) { return s.step.calls; },
          "network calls when all steps are done")
      .def_property_readonly(
          "t", [](const TranslationStep& s) { return s.step.sample.t; },
          "the time told to the network")
      .def_property_readonly(
          "labels", [](const TranslationStep& s) { return s.step.sample.labels; },
          "[K, L] int64: what the network sees in the noisy points")
      .def_property_readonly(
          "noisy", [](const TranslationStep& s) { return s.step.noisy; },
          "[K, L] int64: what the noisy points themselves decode to")
      .def_property_readonly(
          "visible", [](const TranslationStep& s) { return s.step.visible; },
          "[K, L] bool: positions that count; the others are padding")
      .def_property_readonly(
          "texts",
          [](const TranslationStep& s) {
            std::vector<std::string> texts;
            for (const auto& row : s.rows()) texts.push_back(s.tokenizer.decode(row));
            return texts;
          },
          "of the labels, one for every candidate")
      .def_property_readonly(
          "pieces",
          [](const TranslationStep& s) {
            std::vector<std::vector<std::string>> pieces;
            for (const auto& row : s.rows()) {
              auto& symbols = pieces.emplace_back();
              for (const text::Id id : row) symbols.push_back(s.tokenizer.dictionary().symbol(id));
            }
            return pieces;
          },
          "symbols of the labels, one for every place");
}

// Documents of functions that take options; the class says what they mean.
std::string text_doc(const std::string& name, const std::string& leading, const std::string& result,
                     const std::string& text, const std::string& own = "seed: int | None = None") {
  const std::string doc = written({.name = name,
                                   .leading = leading,
                                   .own = own,
                                   .keywords = text_parameters(),
                                   .result = result,
                                   .text = text});
  return doc.substr(0, doc.find("\n    steps: "));
}

}  // namespace

void bind_translator(py::module_& module) {
  bind_translation(module);
  py::class_<Steps> steps(module, "Steps",
                          "The steps of a translation, which the model makes while they are read.");
  steps.def("__iter__", [](const py::object& self) { return self; })
      .def("__next__", &Steps::next)
      .def_property_readonly("result", &Steps::result, "The translation, when all steps are done.");

  py::options options;
  options.disable_function_signatures();
  const std::string texts = "self, texts: str | collections.abc.Sequence[str]";
  py::class_<Translator>(module, "Translator",
                         "A trained model: text in, text out. Threads may share one.")
      .def(py::init([](const std::filesystem::path& folder, const std::string& device,
                       const std::string& precision, const std::string& checkpoint,
                       const std::filesystem::path& reranker, uint64_t seed,
                       const py::kwargs& given) {
             GenerateOptions set;
             set_options("Translator", given, set);
             const py::gil_scoped_release released;
             return std::make_unique<Translator>(folder,
                                                 LoadOptions{.device = device,
                                                             .precision = precision,
                                                             .checkpoint = checkpoint,
                                                             .reranker = reranker},
                                                 seed, set);
           }),
           py::arg("folder"), py::kw_only(), py::arg("device") = LoadOptions().device,
           py::arg("precision") = LoadOptions().precision,
           py::arg("checkpoint") = LoadOptions().checkpoint, py::arg("reranker") = "",
           py::arg("seed") = TextRequest().seed,
           written({.leading = "self, folder: str | os.PathLike[str]",
                    .own = "device: str = 'auto', precision: str = 'auto', checkpoint: str = '', "
                           "reranker: str | os.PathLike[str] = '', seed: int = 1",
                    .keywords = text_parameters(),
                    .text = "From a model folder, or the folder of a training run. Options that "
                            "are not set come from the folder; a call can change them.\n"
                            "    device: auto, cpu, cuda or cuda:N\n"
                            "    precision: float32, bfloat16, int8 (on a CPU), or auto: bfloat16 "
                            "on CUDA only\n"
                            "    checkpoint: of a run: best, last or a step; empty: best, else "
                            "last\n"
                            "    reranker: run or model for the selection 'rerank'"})
               .c_str())
      .def("__call__", &translate_texts, py::arg("texts"), py::kw_only(),
           py::arg("seed") = py::none(),
           text_doc("__call__", texts, "str | list[str]",
                    "The translation of a text, or those of a list. Many at once are faster than "
                    "one after the other.")
               .c_str())
      .def("candidates", &candidates_of, py::arg("texts"), py::kw_only(),
           py::arg("seed") = py::none(),
           text_doc("candidates", texts,
                    "tessera._tessera.Translation | list[tessera._tessera.Translation]",
                    "The same with all candidates and their scores.")
               .c_str())
      .def(
          "steps",
          [](const Translator& translator, const std::string& text, const Optional& seed,
             const py::kwargs& changes) {
            return std::make_unique<Steps>(translator,
                                           translator.request("steps", text, seed, changes));
          },
          py::arg("text"), py::kw_only(), py::arg("seed") = py::none(), py::keep_alive<0, 1>(),
          text_doc("steps", "self, text: str", "tessera._tessera.Steps",
                   "The steps of a diffusion model, one after the other, and then the result:\n"
                   "    steps = translator.steps('ein kleiner hund')\n"
                   "    for step in steps: print(step.t, step.texts[0])\n"
                   "    print(steps.result.text)")
              .c_str())
      .def("watch", &watch, py::arg("text"), py::arg("callback"), py::kw_only(),
           py::arg("seed") = py::none(),
           text_doc("watch",
                    "self, text: str, callback: collections.abc.Callable[["
                    "tessera._tessera.TranslationStep], bool | None]",
                    "tessera._tessera.Translation | None",
                    "Calls back at every step. A callback that returns False stops the work; the "
                    "result is None then.")
               .c_str())
      .def(
          "options",
          [](const Translator& translator, const py::kwargs& changes) {
            return effective_options(translator.engine().in_effect(
                translator.request("options", "", {}, changes).options));
          },
          text_doc("options", "self", "dict[str, typing.Any]",
                   "All options as they are in effect with these changes.", /*own=*/"")
              .c_str())
      .def_property_readonly("tokenizer", &Translator::tokenizer, py::return_value_policy::copy)
      .def_property_readonly("folder", [](const Translator& t) { return t.engine().folder(); });
}

}  // namespace tessera::python
