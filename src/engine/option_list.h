#pragma once

#include <tessera/engine/generate_options.h>
#include <tessera/engine/sample_options.h>
#include <tessera/process/family.h>

#include <limits>
#include <string>
#include <string_view>

// The options of requests. Most change a configuration key for one request; the key's declaration
// has the meaning and the bounds. Only options without a key are described here. Checks of values,
// the program's flags and docs/options.md come from this list.
namespace tessera::engine {

// Which models an option is for; others refuse it.
enum class OptionFor {
  all,
  diffusion,  // of any family: points or symbols
  points,     // diffusion of points
  symbols,    // diffusion of symbols
  search,     // autoregressive models
  draws,      // those that can draw symbols: symbols and search
};

// Whether options for `models` fit a model.
//   family  that of the model; null: the model is autoregressive
bool fits(OptionFor models, const Family* family);

struct RequestOption {
  const char* name;    // that of the field: "length_choice"
  const char* key;     // the key it changes: "generate.length_choice"; empty: none
  const char* values;  // their form: "N", "fast|balanced|best"; empty: no flag of the program
  OptionFor models = OptionFor::all;
  const char* meaning = "";  // of options without a key
};

// All that is known about an option.
struct OptionInfo {
  std::string name, key, values;
  OptionFor models = OptionFor::all;
  std::string meaning;
  double low = -std::numeric_limits<double>::infinity();  // of numbers
  double high = std::numeric_limits<double>::infinity();
};

// The option with what its key's declaration says.
OptionInfo described(const RequestOption& option);

// The selection that uses another model: "rerank", or "rerank=FOLDER".
constexpr std::string_view kRerank = "rerank";

// How messages spell an option: as a field, or as a flag of the program ("--length-choice").
enum class Spelling { field, flag };
std::string spelled(std::string_view name, Spelling spelling);

// The options of texts and of images as Markdown tables: option, flag, key, values, meaning.
std::string text_option_table();
std::string image_option_table();

// Calls visit(option, field) for every option of the sampler; Options is one of the structs below,
// const or not.
template <class Options, class Visit>
void visit_sampler(Options& options, Visit&& visit) {
  using enum OptionFor;
  visit(RequestOption{"steps", "sampler.steps", "N", diffusion}, options.steps);
  visit(RequestOption{"r", "sampler.r", "0..1", points}, options.r);
  visit(RequestOption{"sampler", "", "deterministic|gaussian|as-printed|difformer", points,
                      "deterministic (Algorithm 2), gaussian (noise is partly redrawn at each "
                      "step), as-printed (Algorithm 3 to the letter), difformer (the baseline: r = "
                      "0, 15 of 20 steps)"},
        options.sampler);
  visit(RequestOption{"path", "", "altered|fixed", points,
                      "noise end of a sampling path: recomputed from each estimate (altered), or "
                      "kept from the start (fixed)"},
        options.path);
  visit(RequestOption{"clock", "sampler.clock", "absolute|velocity", points}, options.clock);
  visit(RequestOption{"estimate", "sampler.estimate", "raw|mean|nearest|rescaled", points},
        options.estimate);
  visit(RequestOption{"order", "sampler.order", "random|confidence", symbols}, options.order);
  visit(RequestOption{"predictor", "sampler.predictor", "ancestral|euler|tau-leaping", symbols},
        options.predictor);
  visit(RequestOption{"correctors", "sampler.correctors", "N", symbols}, options.correctors);
  visit(RequestOption{"temperature", "", "X", draws,
                      "above 0, symbols are drawn, and higher values vary more; 0: the likeliest "
                      "ones. Keys: generate.temperature (ar), sampler.temperature (symbols)"},
        options.temperature);
}

// The same for the options of texts other than the sampler's. Options: GenerateOptions, const or
// not.
template <class Options, class Visit>
void visit_generation(Options& options, Visit&& visit) {
  using enum OptionFor;
  visit(RequestOption{"preset", "generate.preset", "fast|balanced|best", diffusion},
        options.preset);
  visit(RequestOption{"candidates", "", "N|LxN", diffusion,
                      "candidates per line: 5 is five noises of the likeliest length, 7x3 is three "
                      "noises for each of the seven likeliest lengths"},
        options.candidates);
  visit(RequestOption{"lengths", "generate.lengths", "", diffusion}, options.lengths);
  visit(RequestOption{"noises", "generate.noises", "", diffusion}, options.noises);
  visit(
      RequestOption{"length_choice", "generate.length_choice", "likeliest|window|draw", diffusion},
      options.length_choice);
  visit(RequestOption{"merge_repeats", "generate.merge_repeats", "true|false", diffusion},
        options.merge_repeats);
  visit(RequestOption{"length", "", "N|+N|-N|oracle", diffusion,
                      "length of the output in symbols: exactly N, N more or fewer than predicted, "
                      "or as in the references (oracle; evaluate only)"},
        options.length);
  visit(
      RequestOption{"selection", "generate.selection", "mbr|confidence|blend|staged|rerank=MODEL"},
      options.selection);
  visit(RequestOption{"beam", "generate.beam", "N", search}, options.beam);
  visit(RequestOption{"length_penalty", "generate.length_penalty", "X", search},
        options.length_penalty);
  visit(RequestOption{"top_k", "generate.top_k", "N", search}, options.top_k);
  visit(RequestOption{"batch_tokens", "generate.batch_tokens", "N"}, options.batch_tokens);
  visit(RequestOption{"noise", "", "texts|lines", all,
                      "what random numbers depend on beside the seed: nothing, so that equal lines "
                      "give equal results (texts, the default), or the number of the line (lines)"},
        options.noise);
}

// The same for the options of images other than the sampler's. Options: SampleOptions, const or
// not.
template <class Options, class Visit>
void visit_images(Options& options, Visit&& visit) {
  using enum OptionFor;
  visit(RequestOption{"guidance", "sample.guidance", "X"}, options.guidance);
  visit(RequestOption{"time_difference", "sampler.time_difference", "X", points},
        options.time_difference);
  visit(RequestOption{"batch", "sample.batch", "N"}, options.batch);
}

}  // namespace tessera::engine
