#include "command.h"

#include "base/log.h"
#include "base/numerals.h"
#include "base/progress.h"
#include "base/require.h"
#include "base/visible_text.h"
#include "engine/option_checks.h"
#include "engine/text_engine.h"
#include "generation_settings.h"
#include "option_checks.h"
#include "share.h"
#include "shipped_models.h"
#include "step_display.h"
#include "terminal.h"
#include "text/line_reader.h"

#include <fmt/format.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include <exception>
#include <functional>
#include <iostream>
#include <memory>
#include <optional>
#include <ostream>
#include <sstream>
#include <string>
#include <vector>

namespace tessera::app {
namespace {

using Json = nlohmann::ordered_json;

struct GenerateCommand {
  GenerationSettings settings;
  std::string input = "-";
  int64_t chunk = 2000;  // lines that are read, generated and printed together
  bool nbest = false;
  bool show_steps = false;
  bool replace_invalid = false;
  ShareSettings share;

  // Of a file with what is printed.
  std::string ending(bool json) const { return json ? "jsonl" : nbest ? "nbest" : "txt"; }
};

struct Chunk {
  int64_t first_line = 0;
  std::vector<std::string> lines;
  std::exception_ptr failure;  // the error that ended it; earlier lines are good
};

Chunk read_chunk(text::LineReader& reader, size_t size) {
  Chunk chunk{reader.line_number(), {}, nullptr};
  try {
    for (std::string_view line; chunk.lines.size() < size && reader.next(line);)
      chunk.lines.emplace_back(line);
  } catch (const Error&) {
    chunk.failure = std::current_exception();
  }
  return chunk;
}

// Whether a tab stands between words.
bool has_columns(const std::string& line) {
  constexpr const char* blanks = " \t\r";
  const size_t begin = line.find_first_not_of(blanks);
  return begin != std::string::npos && line.find('\t', begin) < line.find_last_not_of(blanks);
}

class GenerateRun {
 public:
  GenerateRun(const GenerateCommand& command, const GlobalOptions& globals)
      : command_(command),
        globals_(globals),
        engine_(command.settings.folder, command.settings.load_options(globals)) {
    require_option(!command.settings.wants_reference_lengths(),
                   "there are no references to take lengths from");
    check_flags(engine_, command.settings.changes());  // reports wrong options at once
    require_option(!command.show_steps || engine_.text().model().family() != nullptr,
                   "--show-steps is for models of kind 'diffusion'");
  }

  // The blocks of one of several processes.
  void run_share() {
    const Shard share = command_.share.share();
    const BlockFolder folder(command_.share.out, job(), command_.ending(globals_.json));
    text::LineReader reader(command_.input, {.replace_invalid = command_.replace_invalid});
    const auto size = static_cast<size_t>(command_.share.block);
    Progress progress("generating", 0);
    for (int64_t block = 0;; ++block) {
      const Chunk chunk = read_chunk(reader, size);
      warn_of_columns(chunk);
      if (chunk.failure) std::rethrow_exception(chunk.failure);
      if (chunk.lines.empty()) return folder.set_count(block);
      if (!share.owns(block) || folder.has(block)) continue;
      Json steps;
      std::ostringstream made;
      print(made, chunk, generate(chunk, &progress, steps), steps);
      folder.write(block, made.view());
    }
  }

  void run() {
    text::LineReader reader(command_.input, {.replace_invalid = command_.replace_invalid});
    // Someone who types wants an answer to every line. Steps are shown for one sentence at a time.
    const bool typed = command_.input == "-" && isatty(STDIN_FILENO);
    const size_t size = typed || command_.show_steps ? 1 : static_cast<size_t>(command_.chunk);
    if (command_.show_steps) std::cerr << StepDisplay::legend();
    std::optional<Progress> progress;
    if (size > 1 && !isatty(STDOUT_FILENO)) progress.emplace("generating", 0);
    while (true) {
      const Chunk chunk = read_chunk(reader, size);
      warn_of_columns(chunk);
      Json steps;
      if (!chunk.lines.empty()) {
        const auto results = generate(chunk, progress ? &*progress : nullptr, steps);
        print(std::cout, chunk, results, steps);
        std::cout.flush();
      }
      if (chunk.failure) std::rethrow_exception(chunk.failure);
      if (chunk.lines.size() < size || !std::cout) return;
    }
  }

 private:
  // For a model of sentences a tab is a blank like any other: it would read two columns as one
  // sentence.
  void warn_of_columns(const Chunk& chunk) {
    if (warned_) return;
    int64_t lines = 0, first = 0;
    for (size_t k = 0; k < chunk.lines.size(); ++k) {
      if (!has_columns(chunk.lines[k])) continue;
      if (lines++ == 0) first = chunk.first_line + static_cast<int64_t>(k) + 1;
    }
    if (lines == 0) return;
    warned_ = true;
    log::warn(
        "{} a tab between words (the first is line {}; {} read so far): the model reads all "
        "columns as one sentence (`cut -f1` keeps the first column alone)",
        counted(lines, "line has", "lines have"), first,
        counted(chunk.first_line + static_cast<int64_t>(chunk.lines.size()), "line"));
  }

  //   steps  receives the steps of the one sentence, if they are shown
  std::vector<TextResult> generate(const Chunk& chunk, Progress* progress, Json& steps) const {
    std::vector<TextRequest> requests =
        requests_for(chunk.lines, chunk.first_line, command_.settings.changes(), globals_.seed);
    for (TextRequest& request : requests) request.candidate_texts = globals_.json || command_.nbest;
    StepDisplay display;
    if (command_.show_steps)
      requests.front().on_step = [&](const TextStep& step) { display.record(step); };
    std::function<void(int64_t)> advance;
    if (progress) advance = [&](int64_t sentences) { progress->advance(sentences); };
    std::vector<TextResult> results = engine_.run(requests, advance);
    for (const TextResult& result : results) result.require_done();
    if (!command_.show_steps) return results;

    const text::Tokenizer& tokenizer = engine_.text().tokenizer();
    std::cerr << visible(chunk.lines.front()) << '\n'
              << display.text(results.front(), tokenizer, stderr_shows_colours()) << std::flush;
    steps = display.json(results.front(), tokenizer);
    return results;
  }

  // What all processes that share the work must agree on.
  Json job() const {
    Json options;
    const GenerateOptions in_effect = engine_.in_effect(command_.settings.changes());
    const auto add = [&](const engine::RequestOption& option, const auto& field) {
      // How much is computed at a time is each process's own matter.
      if (field && std::string_view(option.name) != "batch_tokens") options[option.name] = *field;
    };
    engine::visit_sampler(in_effect, add);
    engine::visit_generation(in_effect, add);
    return {{"command", "generate"},
            {"model", fingerprint_of_model(engine_.folder())},
            {"options", options},
            {"seed", globals_.seed},
            {"precision", command_.settings.precision},
            {"input", facts_of_input(command_.input)},
            {"replace_invalid", command_.replace_invalid},
            {"block", command_.share.block},
            {"form", command_.ending(globals_.json)}};
  }

  void print(std::ostream& out, const Chunk& chunk, const std::vector<TextResult>& results,
             const Json& steps) const {
    for (size_t k = 0; k < results.size(); ++k) {
      const auto line = chunk.first_line + static_cast<int64_t>(k);
      if (globals_.json)
        out << json(line, chunk.lines[k], results[k], steps)
                   .dump(-1, ' ', false, Json::error_handler_t::replace)
            << '\n';
      else if (command_.nbest)
        print_nbest(out, line, results[k]);
      else
        out << results[k].text << '\n';
    }
  }

  static Json json(int64_t line, const std::string& source, const TextResult& result,
                   const Json& steps) {
    Json candidates = Json::array();
    for (const TextResult::Candidate& candidate : result.candidates) {
      candidates.push_back({{"text", candidate.text},
                            {"confidence", candidate.confidence},
                            {"expected_bleu", candidate.expected_bleu},
                            {"length", candidate.length},
                            {"length_log_probability", candidate.length_log_probability}});
      if (candidate.rerank_score) candidates.back()["rerank"] = *candidate.rerank_score;
      if (candidate.staged_score) candidates.back()["staged"] = *candidate.staged_score;
    }
    Json json{{"line", line + 1},
              {"source", source},
              {"text", result.text},
              {"chosen", result.chosen},
              {"predicted_length", result.predicted_length},
              {"nfe", result.nfe},
              {"truncated", result.truncated},
              {"candidates", candidates}};
    if (!steps.is_null()) json["steps"] = steps;
    return json;
  }

  // As Moses prints its n-best lists.
  static void print_nbest(std::ostream& out, int64_t line, const TextResult& result) {
    for (const size_t k : result.ranking) {
      const TextResult::Candidate& candidate = result.candidates[k];
      const std::string rerank =
          candidate.rerank_score ? fmt::format(" rerank= {:.4f}", *candidate.rerank_score) : "";
      out << fmt::format("{} ||| {} ||| confidence= {:.4f} expected_bleu= {:.2f}{} ||| {:.4f}\n",
                         line, candidate.text, candidate.confidence, candidate.expected_bleu,
                         rerank, candidate.score);
    }
  }

  const GenerateCommand& command_;
  const GlobalOptions& globals_;
  Engine engine_;
  bool warned_ = false;  // about columns
};

}  // namespace

void add_generate(CLI::App& program, const GlobalOptions& globals) {
  CLI::App* generate = program.add_subcommand(
      "generate", "turn lines of text into lines of text: tessera generate RUN < in > out");
  generate->footer(
      "Without a RUN or a MODEL, the translator that came with the program is used, if there is "
      "one:\n"
      "  echo 'Guten Morgen!' | tessera generate");
  auto command = std::make_shared<GenerateCommand>();
  add_generation_options(*generate, command->settings);
  generate->get_option("folder")->required(false);
  generate
      ->add_option("--input", command->input,
                   "file to read instead of standard input (.gz and .xz are unpacked)")
      ->option_text("FILE");
  generate
      ->add_option("--chunk", command->chunk,
                   "lines to read before answering; 1 answers each line at once, for a program "
                   "that waits for the answer")
      ->capture_default_str()
      ->check(whole_number(1))
      ->option_text("N");
  generate->add_flag("--nbest", command->nbest,
                     "print all candidates, best first: line ||| text ||| scores ||| score");
  generate->add_flag("--show-steps", command->show_steps,
                     "show on stderr how every sentence condenses out of noise, step by step; "
                     "--json has the steps, too");
  generate->add_flag("--replace-invalid", command->replace_invalid,
                     "replace NUL bytes and invalid UTF-8 by U+FFFD instead of failing");
  add_share_options(*generate, command->share, "lines");
  generate->add_option("--out", command->share.out, "with --shard: folder for the blocks")
      ->option_text("DIR");
  generate->callback([command, &globals] {
    if (!command->share.join.empty()) return print_joined(command->share.join, "generate");
    require_option(command->share.shared() == !command->share.out.empty(),
                   "--shard and --out go together: the blocks of a share go to a folder");
    require_option(!command->share.shared() || !command->show_steps,
                   "--show-steps is for people, and --shard for large jobs");
    require_option(!(globals.json && command->nbest),
                   "--json has all candidates already: leave out --nbest");
    if (command->settings.folder.empty())
      command->settings.folder = shipped_model(kShippedTranslator, "translates");
    GenerateRun run(*command, globals);
    command->share.shared() ? run.run_share() : run.run();
  });
}

}  // namespace tessera::app
