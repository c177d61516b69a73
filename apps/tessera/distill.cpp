#include "command.h"

#include "base/log.h"
#include "base/progress.h"
#include "base/require.h"
#include "engine/option_checks.h"
#include "engine/text_engine.h"
#include "files/config.h"
#include "files/hash.h"
#include "generation_settings.h"
#include "print_json.h"
#include "seq2seq/distillation.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <iostream>
#include <memory>

namespace tessera::app {
namespace {

struct DistillCommand {
  GenerationSettings settings;
  std::filesystem::path data, out;
};

// Which teacher writes, and how: all that its targets depend on.
std::string key_of(const DistillCommand& command, const Engine& teacher,
                   const corpus::Corpus& corpus, uint64_t seed) {
  seq2seq::GenerationOptions options = options_in_effect(teacher, command.settings.changes());
  const bool random = teacher.text().model().family() != nullptr || options.temperature > 0;
  options.sampler.seed = seed;
  options.batch_tokens =
      seq2seq::GenerationOptions().batch_tokens;  // of no account for what is written
  options.selection = seq2seq::Selection::mbr;    // by name below: a schema has no reranker
  config::Schema schema;
  declare(schema, options);
  const GenerateOptions& flags = command.settings.options;
  std::string settings = fmt::format("{}\n{}\n{}", schema.dump(), flags.length.value_or(""),
                                     flags.selection.value_or(""));
  if (command.settings.precision != ModelSettings().precision)
    settings += "\n" + command.settings.precision;
  if (random && options.noise != seq2seq::NoiseOf::lines)  // which was all there was, once
    settings += fmt::format("\nnoise {}", name_of(options.noise));
  return fmt::format("corpus {}, teacher {}, settings {}", corpus.fingerprint(),
                     file_hash(teacher.folder() / "model.safetensors"), content_hash(settings));
}

seq2seq::Teacher teacher_of(const Engine& engine, const GenerateOptions& options, uint64_t seed) {
  return [&engine, options, seed](const std::vector<std::vector<text::Id>>& sources,
                                  int64_t first_line) {
    std::vector<TextRequest> requests;
    for (const std::vector<text::Id>& source : sources)
      requests.push_back({.seed = seed,
                          .options = options,
                          .line = first_line + static_cast<int64_t>(requests.size()),
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

void run_distill(const DistillCommand& command, const GlobalOptions& globals) {
  require_option(!command.out.empty(), "--out is empty: name a folder for the new corpus");
  require_option(!command.settings.wants_reference_lengths(),
                 "a teacher finds the lengths itself: --length oracle is for evaluate");
  const corpus::Corpus corpus = corpus::Corpus::open(command.data, /*verify_contents=*/true);
  const Engine teacher(command.settings.folder, command.settings.load_options(globals));
  const std::string key = key_of(command, teacher, corpus, globals.seed);
  if (const auto difference =
          corpus.tokenizer().dictionary().difference(teacher.text().tokenizer().dictionary()))
    throw Error(fmt::format("the teacher in '{}' does not fit the corpus in '{}': {}",
                            command.settings.folder.string(), command.data.string(), *difference),
                "a teacher writes in the symbols it was trained with: distil the corpus it knows");
  seq2seq::DistillationReport report;
  {
    Progress bar("distilling", corpus.split("train").size());
    report = seq2seq::distill(corpus, teacher_of(teacher, command.settings.changes(), globals.seed),
                              key, command.out, [&](int64_t lines) { bar.advance(lines); });
  }
  if (globals.json) {
    print_json(nlohmann::ordered_json{{"lines", report.lines},
                                      {"left_out", report.left_out},
                                      {"length_ratio", report.length_ratio},
                                      {"bleu", report.bleu},
                                      {"bleu_line", report.bleu_line},
                                      {"identical", report.identical}});
  } else {
    std::cout << fmt::format(
        "{} lines, {} of them left out (the teacher wrote nothing)\n"
        "length ratio to the real targets {:.3f}\n"
        "against the real targets: {}\n"
        "identical {:.1f} %\n",
        report.lines, report.left_out, report.length_ratio, report.bleu_line,
        100 * report.identical);
  }
  if (report.identical > seq2seq::DistillationReport::kMemorised)
    log::warn(
        "the teacher wrote {:.0f} % of the targets word by word: it knows them by heart, and "
        "training on its output is hardly easier (more dropout or fewer updates help)",
        100 * report.identical);
}

}  // namespace

void add_distill(CLI::App& program, const GlobalOptions& globals) {
  CLI::App* distill = program.add_subcommand(
      "distill", "make a corpus whose training targets are a teacher's output for the sources");
  distill->footer(
      "Sources, validation and test stay as they are. What was stopped goes on when the same\n"
      "command is given again, from the last 4,096 lines that were whole.\n"
      "  tessera distill runs/teacher --data data/m30k --out data/m30k-distilled --beam 5");
  auto command = std::make_shared<DistillCommand>();
  add_generation_options(*distill, command->settings);
  distill->add_option("--data", command->data, "corpus to distil, as `tessera prepare` wrote it")
      ->required()
      ->option_text("DIR");
  distill->add_option("--out", command->out, "folder for the new corpus")
      ->required()
      ->option_text("DIR");
  distill->callback([command, &globals] { run_distill(*command, globals); });
}

}  // namespace tessera::app
