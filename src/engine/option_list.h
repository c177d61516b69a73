#pragma once

#include "seq2seq/generation_options.h"

#include <tessera/engine/generate_options.h>
#include <tessera/engine/sample_options.h>

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

// The options of requests, each declared once: what they mean, which values they take, which models
// they are for. Checks of values and the program's flags come from this list.
namespace tessera::engine {

// Which models of text an option is for; others refuse it.
enum class OptionFor { all, diffusion, search };

struct OptionInfo {
  const char* name;     // as the field: "length_choice"
  const char* meaning;  // for people
  const char* values;   // how they look: "N", "fast|balanced|best"; empty: no flag of the program
  OptionFor models = OptionFor::all;
  double low = -std::numeric_limits<double>::infinity();  // of numbers
  double high = std::numeric_limits<double>::infinity();
};

// The selection that takes another model: "rerank", or "rerank=FOLDER".
constexpr std::string_view kRerank = "rerank";

// How messages spell an option: as a field, or as a flag of the program ("--length-choice").
enum class Spelling { field, flag };
std::string spelled(std::string_view name, Spelling spelling);

// Calls visit(info, field) for every option of the sampler; Options is one of the structs below,
// const or not.
template <class Options, class Visit>
void visit_sampler(Options& options, Visit&& visit) {
  constexpr OptionFor diffusion = OptionFor::diffusion;
  visit(OptionInfo{"steps", "number of sampling steps; more steps take longer", "N", diffusion, 1},
        options.steps);
  visit(
      OptionInfo{"r",
                 "confidence factor of sampling: 0 is plain diffusion, 1 starts at the borders of "
                 "the cells (default: as in training)",
                 "0..1", diffusion, 0, 1},
      options.r);
  visit(OptionInfo{"sampler",
                   "deterministic (Algorithm 2), gaussian (noise is partly redrawn at each step), "
                   "as-printed (Algorithm 3 to the letter), difformer (the baseline: r = 0, 15 of "
                   "20 steps)",
                   "NAME", diffusion},
        options.sampler);
  visit(OptionInfo{"path",
                   "noise end of a sampling path: recomputed from each estimate (altered), or kept "
                   "from the start (fixed)",
                   "altered|fixed", diffusion},
        options.path);
  visit(
      OptionInfo{"clock",
                 "rescaled time of a position in sampling: computed anew at each step (absolute), "
                 "or moved by its speed (velocity)",
                 "absolute|velocity", diffusion},
      options.clock);
  visit(OptionInfo{"estimate",
                   "point that a path is built from: the network's estimate (raw), the mean of the "
                   "codes weighted by its scores (mean), the nearest code (nearest), or the "
                   "estimate scaled to a code's length (rescaled)",
                   "raw|mean|nearest|rescaled", diffusion},
        options.estimate);
}

// Those of texts beside the sampler. Options: GenerateOptions, const or not.
template <class Options, class Visit>
void visit_generation(Options& options, Visit&& visit) {
  constexpr OptionFor diffusion = OptionFor::diffusion, search = OptionFor::search;
  visit(OptionInfo{"preset",
                   "work per line: at most 6 (fast), 20 (balanced) or 100 (best) decoder passes; "
                   "--candidates, --steps and --selection override it",
                   "fast|balanced|best", diffusion},
        options.preset);
  visit(OptionInfo{"candidates",
                   "candidates per line: 5 is five noises of the likeliest length, 7x3 is three "
                   "noises for each of the seven likeliest lengths",
                   "N|LxN", diffusion},
        options.candidates);
  visit(OptionInfo{"lengths", "lengths that are tried", "", diffusion, 1, seq2seq::kMaxCandidates},
        options.lengths);
  visit(OptionInfo{"noises", "start noises of every length", "", diffusion, 1,
                   seq2seq::kMaxCandidates},
        options.noises);
  visit(OptionInfo{"length_choice",
                   "lengths to try: the likeliest ones (likeliest), the likeliest one and its "
                   "neighbours (window), or lengths drawn by their probability (draw)",
                   "likeliest|window|draw", diffusion},
        options.length_choice);
  visit(
      OptionInfo{"merge_repeats", "write a symbol once if it is repeated in a row", "", diffusion},
      options.merge_repeats);
  visit(OptionInfo{"length",
                   "length of the output in symbols: exactly N, N more or fewer than predicted, or "
                   "as in the references (oracle; evaluate only)",
                   "N|+N|-N|oracle", diffusion},
        options.length);
  visit(
      OptionInfo{
          "selection",
          "how to choose a candidate: by agreement with the others (mbr), by the model's "
          "probability (confidence), by both (blend), within each length and then across lengths "
          "(staged), or by the probability that an autoregressive model gives it (rerank=MODEL)",
          "mbr|confidence|blend|staged|rerank=MODEL"},
      options.selection);
  visit(OptionInfo{"beam",
                   "autoregressive models: number of hypotheses, 1 is greedy; with --temperature, "
                   "number of sentences to draw",
                   "N", search, 1, seq2seq::kMaxCandidates},
        options.beam);
  visit(OptionInfo{"length_penalty",
                   "autoregressive models: hypotheses are ranked by log-probability divided by "
                   "length to this power",
                   "X", search, 0, seq2seq::kMaxLengthPenalty},
        options.length_penalty);
  visit(OptionInfo{"temperature",
                   "autoregressive models: draw sentences instead of searching; higher values vary "
                   "more",
                   "X", search, 0, seq2seq::kMaxTemperature},
        options.temperature);
  visit(OptionInfo{"top_k", "autoregressive models: draw among the N likeliest symbols only", "N",
                   search, 0},
        options.top_k);
  visit(OptionInfo{"batch_tokens",
                   "size of a batch, in candidates x length; lower it if memory runs out", "N",
                   OptionFor::all, 1},
        options.batch_tokens);
  visit(OptionInfo{"noise",
                   "what random numbers depend on beside the seed: nothing, so that equal lines "
                   "give equal results (texts, the default), or the number of the line (lines)",
                   "texts|lines"},
        options.noise);
}

// Those of images beside the sampler. Options: SampleOptions, const or not.
template <class Options, class Visit>
void visit_images(Options& options, Visit&& visit) {
  visit(OptionInfo{"guidance",
                   "strength of the class: 1 as trained, larger values make images more typical of "
                   "the class",
                   "X", OptionFor::all, 0, 1000},
        options.guidance);
  visit(OptionInfo{"time_difference",
                   "steps by which the state is ahead of the time that the network is told "
                   "(asymmetric steps)",
                   "X", OptionFor::all, 0, 1000},
        options.time_difference);
  visit(OptionInfo{"batch", "images made at a time; lower it if memory runs out", "N",
                   OptionFor::all, 1, 1000000},
        options.batch);
}

}  // namespace tessera::engine
