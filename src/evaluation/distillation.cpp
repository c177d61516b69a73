#include <tessera/evaluation/distillation.h>

#include "base/require.h"
#include "config/config.h"
#include "config/option_text.h"
#include "engine/text_engine.h"
#include "evaluation/distilled_corpus.h"
#include "files/hash.h"
#include "seq2seq/generation_options.h"

#include <tessera/base/error.h>

#include <fmt/format.h>

namespace tessera {
namespace {

// Identifies the teacher and its settings: everything that its targets depend on.
std::string key_of(const Engine& teacher, const corpus::Corpus& corpus,
                   const DistillationOptions& asked) {
  const GenerateOptions& changes = asked.generation;
  seq2seq::GenerationOptions options = teacher.text().resolved(changes);
  const bool random = teacher.text().model().family() != nullptr || options.temperature > 0;
  options.sampler.seed = asked.seed;
  options.batch_tokens = seq2seq::GenerationOptions().batch_tokens;  // does not change the targets
  options.selection = seq2seq::Selection::mbr;  // added by name below: a schema has no reranker
  config::Schema schema;
  declare(schema, options);
  std::string settings;
  for (const auto& [key, value] : schema.values())
    settings += fmt::format("{} = {}\n", key, config::text_of(value));
  settings += fmt::format("{}\n{}", changes.length.value_or(""), changes.selection.value_or(""));
  const std::string& precision = teacher.load_options().precision;
  if (precision != LoadOptions().precision) settings += "\n" + precision;
  if (random && options.noise != seq2seq::NoiseOf::lines)  // older versions had only this one
    settings += fmt::format("\nnoise {}", name_of(options.noise));
  return fmt::format("corpus {}, teacher {}, settings {}", corpus.fingerprint(),
                     file_hash(teacher.folder() / "model.safetensors"), content_hash(settings));
}

evaluation::Teacher teacher_of(const Engine& engine, const DistillationOptions& options) {
  return [&](const std::vector<std::vector<text::Id>>& sources, int64_t first_line) {
    std::vector<TextRequest> requests;
    for (const std::vector<text::Id>& source : sources)
      requests.push_back({.seed = options.seed,
                          .options = options.generation,
                          .stop = options.stop,
                          .line = first_line + std::ssize(requests),
                          .symbols = source,
                          .candidate_texts = false});
    std::vector<std::vector<text::Id>> targets;
    for (const TextResult& result : engine.run(requests)) {
      result.require_done();
      targets.push_back(result.candidates[result.chosen].symbols);
    }
    return targets;
  };
}

// What is distilled, checked.
struct Work {
  Work(const Engine& teacher, const std::filesystem::path& folder,
       const DistillationOptions& options)
      : corpus(corpus::Corpus::open(folder, /*verify_contents=*/true)),
        write(teacher_of(teacher, options)) {
    teacher.in_effect(options.generation);  // throws for options that make no sense
    key = key_of(teacher, corpus, options);
    if (const auto difference =
            corpus.tokenizer().dictionary().difference(teacher.text().tokenizer().dictionary()))
      throw Error(
          fmt::format("the teacher in '{}' does not fit the corpus in '{}': {}",
                      teacher.folder().string(), folder.string(), *difference),
          "a teacher writes in the symbols it was trained with: distil the corpus it knows");
  }

  corpus::Corpus corpus;
  evaluation::Teacher write;
  std::string key;
};

}  // namespace

DistillationReport distill(const Engine& teacher, const std::filesystem::path& corpus,
                           const std::filesystem::path& out, const DistillationOptions& options) {
  const Work work(teacher, corpus, options);
  return evaluation::write_distilled(work.corpus, work.write, work.key, out, options.progress);
}

int64_t distill_share(const Engine& teacher, const std::filesystem::path& corpus,
                      const std::filesystem::path& out, int64_t index, int64_t count,
                      const DistillationOptions& options) {
  require_option(0 <= index && index < count, "there is no process {} among {}", index, count);
  const Work work(teacher, corpus, options);
  return evaluation::write_distilled_share(work.corpus, work.write, work.key, out, {index, count},
                                           options.progress);
}

}  // namespace tessera
