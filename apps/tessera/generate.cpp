#include "command.h"

#include "base/log.h"
#include "base/numerals.h"
#include "base/progress.h"
#include "base/require.h"
#include "base/terminal.h"
#include "base/visible_text.h"
#include "condensation.h"
#include "generation_settings.h"
#include "option_checks.h"
#include "text/line_reader.h"

#include <fmt/format.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <exception>
#include <iostream>
#include <memory>
#include <numeric>
#include <optional>
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
};

struct Chunk {
  int64_t first_line = 0;
  std::vector<std::string> lines;
  std::exception_ptr failure;  // what ended it; lines before it are good
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

// Places of the candidates, the chosen one first, the others by the score it was chosen by; those
// of a search are in order already.
std::vector<size_t> ranking(const model::Generated& generated, const LoadedGenerator& loaded) {
  std::vector<size_t> order(generated.candidates.size());
  std::iota(order.begin(), order.end(), size_t{0});
  if (loaded.searches()) return order;
  const model::Selection selection = loaded.options().selection;
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    const bool first = a == generated.chosen, second = b == generated.chosen;
    return first != second ? first
                           : score_of(generated.candidates[a], selection) >
                                 score_of(generated.candidates[b], selection);
  });
  return order;
}

class GenerateRun {
 public:
  GenerateRun(const GenerateCommand& command, const GlobalOptions& globals)
      : command_(command), json_(globals.json), loaded_(command.settings, globals) {
    require_option(command.settings.length != kOracleLength,
                   "there are no references to take lengths from");
    require_option(!command.show_steps || loaded_.model().family() != nullptr,
                   "--show-steps is for models of kind 'diffusion'");
  }

  void run() {
    text::LineReader reader(command_.input, {.replace_invalid = command_.replace_invalid});
    // Someone who types wants an answer to every line; steps are shown of one sentence at a time.
    const bool typed = command_.input == "-" && isatty(STDIN_FILENO);
    const size_t size = typed || command_.show_steps ? 1 : static_cast<size_t>(command_.chunk);
    if (command_.show_steps) std::cerr << Condensation::legend();
    std::optional<Progress> progress;
    if (size > 1 && !isatty(STDOUT_FILENO)) progress.emplace("generating", 0);
    while (true) {
      const Chunk chunk = read_chunk(reader, size);
      warn_of_columns(chunk);
      Json steps;
      if (!chunk.lines.empty()) {
        const auto results = generate(chunk, progress ? &*progress : nullptr, steps);
        print(chunk, results, steps);
      }
      if (chunk.failure) std::rethrow_exception(chunk.failure);
      if (chunk.lines.size() < size || !std::cout) return;
    }
  }

 private:
  // For a model of sentences a tab is a blank like others: it would read two columns as one
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
        "columns "
        "as one sentence (`cut -f1` keeps the first column alone)",
        counted(lines, "line has", "lines have"), first,
        counted(chunk.first_line + static_cast<int64_t>(chunk.lines.size()), "line"));
  }

  //   steps  receives those of the one sentence, where they are shown
  std::vector<model::Generated> generate(const Chunk& chunk, Progress* progress,
                                         Json& steps) const {
    const std::vector<std::vector<text::Id>> sources = loaded_.encode(chunk.lines);
    model::GenerateHooks hooks;
    hooks.first_line = chunk.first_line;
    if (progress) hooks.progress = [&](int64_t sentences) { progress->advance(sentences); };
    if (!command_.show_steps) return loaded_.generator().generate(sources, hooks);

    Condensation condensation(loaded_.model().codebook());
    hooks.step = [&](const model::GenerationStep& step) { condensation.record(step); };
    auto results = loaded_.generator().generate(sources, hooks);
    std::cerr << visible(chunk.lines.front()) << '\n'
              << condensation.text(results.front(), loaded_.tokenizer(), stderr_shows_colours())
              << std::flush;
    steps = condensation.json(results.front(), loaded_.tokenizer());
    return results;
  }

  void print(const Chunk& chunk, const std::vector<model::Generated>& results,
             const Json& steps) const {
    for (size_t k = 0; k < results.size(); ++k) {
      const auto line = chunk.first_line + static_cast<int64_t>(k);
      if (json_)
        std::cout << json(line, chunk.lines[k], results[k], steps)
                         .dump(-1, ' ', false, Json::error_handler_t::replace)
                  << '\n';
      else if (command_.nbest)
        print_nbest(line, results[k]);
      else
        std::cout << loaded_.tokenizer().decode(results[k].ids()) << '\n';
    }
    std::cout.flush();
  }

  Json json(int64_t line, const std::string& source, const model::Generated& generated,
            const Json& steps) const {
    Json candidates = Json::array();
    for (const model::Candidate& candidate : generated.candidates) {
      candidates.push_back({{"text", loaded_.tokenizer().decode(candidate.ids)},
                            {"confidence", candidate.confidence},
                            {"expected_bleu", candidate.expected_bleu},
                            {"length", candidate.length},
                            {"length_log_probability", candidate.length_log_probability}});
      if (candidate.rerank_score) candidates.back()["rerank"] = *candidate.rerank_score;
      if (candidate.staged_score) candidates.back()["staged"] = *candidate.staged_score;
    }
    Json json{{"line", line + 1},
              {"source", source},
              {"text", loaded_.tokenizer().decode(generated.ids())},
              {"chosen", generated.chosen},
              {"predicted_length", generated.predicted_length},
              {"nfe", generated.nfe},
              {"truncated", generated.truncated},
              {"candidates", candidates}};
    if (!steps.is_null()) json["steps"] = steps;
    return json;
  }

  // As Moses prints its n-best lists.
  void print_nbest(int64_t line, const model::Generated& generated) const {
    const model::Selection selection =
        loaded_.searches() ? model::Selection::confidence : loaded_.options().selection;
    for (const size_t k : ranking(generated, loaded_)) {
      const model::Candidate& candidate = generated.candidates[k];
      const std::string rerank =
          candidate.rerank_score ? fmt::format(" rerank= {:.4f}", *candidate.rerank_score) : "";
      std::cout << fmt::format(
          "{} ||| {} ||| confidence= {:.4f} expected_bleu= {:.2f}{} ||| {:.4f}\n", line,
          loaded_.tokenizer().decode(candidate.ids), candidate.confidence, candidate.expected_bleu,
          rerank, score_of(candidate, selection));
    }
  }

  const GenerateCommand& command_;
  bool json_;
  LoadedGenerator loaded_;
  bool warned_ = false;  // of columns
};

}  // namespace

void add_generate(CLI::App& program, const GlobalOptions& globals) {
  CLI::App* generate = program.add_subcommand(
      "generate", "turn lines of text into lines of text: tessera generate RUN < in > out");
  auto command = std::make_shared<GenerateCommand>();
  add_generation_options(*generate, command->settings);
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
  generate->callback([command, &globals] {
    require_option(!(globals.json && command->nbest),
                   "--json has all candidates already: leave out --nbest");
    GenerateRun(*command, globals).run();
  });
}

}  // namespace tessera::app
