#include "base/numerals.h"
#include "command.h"

#include "base/log.h"
#include "base/progress.h"
#include "base/require.h"
#include "corpus/corpus.h"
#include "files/block_folder.h"
#include "generation_settings.h"
#include "print_json.h"

#include <tessera/evaluation/distillation.h>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <iostream>
#include <memory>
#include <optional>

namespace tessera::app {
namespace {

struct DistillCommand {
  GenerationSettings settings;
  std::filesystem::path data, out;
  std::string shard;  // "2/7"; empty: all
};

void run_distill(const DistillCommand& command, const GlobalOptions& globals) {
  require_option(!command.out.empty(), "--out is empty: name a folder for the new corpus");
  require_option(!command.settings.wants_reference_lengths(),
                 "a teacher finds the lengths itself: --length oracle is for evaluate");
  const int64_t pairs = corpus::Corpus::open(command.data).split("train").size();
  const Engine teacher(command.settings.folder, command.settings.load_options(globals));
  check_flags(teacher, command.settings.changes());
  DistillationReport report;
  {
    const std::optional<Shard> shard =
        command.shard.empty() ? std::nullopt : std::optional(Shard::parse(command.shard));
    Progress bar("distilling", shard ? 0 : pairs);
    const DistillationOptions options{.generation = command.settings.changes(),
                                      .seed = globals.seed,
                                      .progress = [&](int64_t lines) { bar.advance(lines); }};
    if (shard) {
      const int64_t lines =
          distill_share(teacher, command.data, command.out, shard->index, shard->count, options);
      log::info(
          "share {} is done: {}; when all are, the same command without --shard puts the "
          "corpus together",
          command.shard, counted(lines, "line"));
      return;
    }
    report = distill(teacher, command.data, command.out, options);
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
        "{}, {} of them left out (the teacher wrote nothing)\n"
        "length ratio to the real targets {:.3f}\n"
        "against the real targets: {}\n"
        "identical {:.1f} %\n",
        counted(report.lines, "line"), report.left_out, report.length_ratio, report.bleu_line,
        100 * report.identical);
  }
  if (report.identical > DistillationReport::kMemorised)
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
      "Sources, validation and test stay as they are. The same command continues work that was\n"
      "stopped; finished lines are kept in groups of 4,096.\n"
      "  tessera distill runs/teacher --data data/m30k --out data/m30k-distilled --beam 5");
  auto command = std::make_shared<DistillCommand>();
  add_generation_options(*distill, command->settings);
  distill->add_option("--data", command->data, "corpus to distil, as `tessera prepare` wrote it")
      ->required()
      ->option_text("DIR");
  distill->add_option("--out", command->out, "folder for the new corpus")
      ->required()
      ->option_text("DIR");
  distill
      ->add_option("--shard", command->shard,
                   "make only the share of process I of N (1/8, ..., 8/8), on machines that share "
                   "the folder; then the same command without it puts the corpus together")
      ->option_text("I/N");
  distill->callback([command, &globals] { run_distill(*command, globals); });
}

}  // namespace tessera::app
