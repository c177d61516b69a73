#include "generation_settings.h"

#include "base/device.h"
#include "base/require.h"
#include "model/fitting_options.h"
#include "option_checks.h"

#include <charconv>
#include <string_view>

namespace tessera::app {
namespace {

std::optional<int64_t> positive_number(std::string_view text) {
  int64_t value = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool good = failure == std::errc() && end == text.data() + text.size() && value >= 1;
  return good ? std::optional(value) : std::nullopt;
}

// "5" is one length with 5 noises, "7x3" 7 lengths with 3 noises each.
void set_candidates(model::GenerationOptions& options, const std::string& text) {
  const size_t cross = text.find('x');
  const bool both = cross != std::string::npos;
  const auto lengths = both ? positive_number(text.substr(0, cross)) : std::optional<int64_t>(1);
  const auto noises = positive_number(both ? text.substr(cross + 1) : text);
  require_option(lengths && noises,
                 "candidates are a number (5) or lengths x noises (7x3), got '{}'", text);
  options.lengths = *lengths;
  options.noises = *noises;
}

}  // namespace

void add_generation_options(CLI::App& command, GenerationSettings& settings) {
  add_model_option(command, settings);
  add_sampler_options(command, settings);
  command
      .add_option("--preset", settings.preset,
                  "work per line: at most 6 (fast), 20 (balanced) or 100 (best) decoder passes; "
                  "--candidates, --steps and --selection override it")
      ->option_text("fast|balanced|best");
  command
      .add_option("--candidates", settings.candidates,
                  "candidates per line: 5 is five noises of the likeliest length, 7x3 is three "
                  "noises for each of the seven likeliest lengths")
      ->option_text("N|LxN");
  command
      .add_option("--length-choice", settings.length_choice,
                  "lengths to try: the likeliest ones (likeliest), the likeliest one and its "
                  "neighbours (window), or lengths drawn by their probability (draw)")
      ->option_text("likeliest|window|draw");
  auto* merge = command.add_flag("--merge-repeats", settings.merge_repeats,
                                 "write a symbol once if it is repeated in a row");
  command.add_flag("--keep-repeats", settings.keep_repeats, "keep repeated symbols")
      ->excludes(merge);
  command
      .add_option("--length", settings.length,
                  "length of the output in symbols: exactly N, N more or fewer than predicted, or "
                  "as in the references (oracle; evaluate only)")
      ->option_text("N|+N|-N|oracle");
  command
      .add_option(
          "--selection", settings.selection,
          "how to choose a candidate: by agreement with the others (mbr), by the model's "
          "probability (confidence), by both (blend), within each length and then across lengths "
          "(staged), or by the probability that an autoregressive model gives it (rerank=MODEL)")
      ->option_text("mbr|confidence|blend|staged|rerank=MODEL");
  command
      .add_option("--beam", settings.beam,
                  "autoregressive models: number of hypotheses, 1 is greedy; with --temperature, "
                  "number of sentences to draw")
      ->check(whole_number(1, model::kMaxCandidates))
      ->option_text("N");
  command
      .add_option("--length-penalty", settings.length_penalty,
                  "autoregressive models: hypotheses are ranked by log-probability divided by "
                  "length to this power")
      ->check(number_in(0, model::kMaxLengthPenalty))
      ->option_text("X");
  command
      .add_option(
          "--temperature", settings.temperature,
          "autoregressive models: draw sentences instead of searching; higher values vary more")
      ->check(number_in(0, model::kMaxTemperature))
      ->option_text("X");
  command
      .add_option("--top-k", settings.top_k,
                  "autoregressive models: draw among the N likeliest symbols only")
      ->check(whole_number(1))
      ->option_text("N");
  command
      .add_option("--batch-tokens", settings.batch_tokens,
                  "size of a batch, in candidates x length; lower it if memory runs out")
      ->check(whole_number(1))
      ->option_text("N");
}

namespace {

constexpr std::string_view kRerank = "rerank=";

void require_fitting(const GenerationSettings& settings, const model::GenerationOptions& options,
                     const model::Seq2Seq& model) {
  const model::GivenOption given[] = {{"--steps", settings.steps.has_value()},
                                      {"--r", settings.r.has_value()},
                                      {"--sampler", !settings.sampler.empty()},
                                      {"--preset", !settings.preset.empty()},
                                      {"--candidates", !settings.candidates.empty()},
                                      {"--length-choice", !settings.length_choice.empty()},
                                      {"--merge-repeats", settings.merge_repeats},
                                      {"--keep-repeats", settings.keep_repeats},
                                      {"--length", !settings.length.empty()},
                                      {"--path", !settings.path.empty()},
                                      {"--clock", !settings.clock.empty()},
                                      {"--estimate", !settings.estimate.empty()},
                                      {"--beam", settings.beam.has_value()},
                                      {"--length-penalty", settings.length_penalty.has_value()},
                                      {"--temperature", settings.temperature.has_value()},
                                      {"--top-k", settings.top_k.has_value()},
                                      {"--selection", !settings.selection.empty()}};
  model::require_fitting_options(model, options, given);
}

model::LoadedModel load(const std::filesystem::path& folder, const std::string& precision,
                        at::Device device) {
  return model::load_model_folder(folder, device, nn::parse_precision(precision, device));
}

// The model's own options with the changes made. Throws UsageError.
model::GenerationOptions changed(model::GenerationOptions options,
                                 const GenerationSettings& settings, uint64_t seed) {
  if (!settings.preset.empty()) use_preset(options, parse_name<model::Preset>(settings.preset));
  change_sampler(options.sampler, settings, seed);
  if (settings.merge_repeats || settings.keep_repeats)
    options.merge_repeats = settings.merge_repeats;
  if (!settings.candidates.empty()) set_candidates(options, settings.candidates);
  if (!settings.length_choice.empty())
    options.length_choice = parse_name<model::LengthChoice>(settings.length_choice);
  if (!settings.length.empty() && settings.length != kOracleLength)
    options.length = model::LengthRule::parse(settings.length);
  options.beam = settings.beam.value_or(options.beam);
  options.length_penalty = settings.length_penalty.value_or(options.length_penalty);
  options.temperature = settings.temperature.value_or(options.temperature);
  require_option(model::is_temperature(options.temperature),
                 "--temperature must be 0 or at least {}, got {}", model::kMinTemperature,
                 options.temperature);
  options.top_k = settings.top_k.value_or(options.top_k);
  if (!settings.reranker().empty()) {
    options.selection = model::Selection::rerank;
  } else if (!settings.selection.empty()) {
    options.selection = parse_name<model::Selection>(settings.selection);
  }
  options.batch_tokens = settings.batch_tokens.value_or(options.batch_tokens);
  return options;
}

}  // namespace

std::filesystem::path GenerationSettings::reranker() const {
  return selection.starts_with(kRerank) ? selection.substr(kRerank.size()) : "";
}

LoadedGenerator::LoadedGenerator(const GenerationSettings& settings, const GlobalOptions& globals)
    : folder_(find_model_folder(settings.folder, settings.checkpoint)),
      loaded_(load(folder_, settings.precision, parse_device(globals.device))) {
  const auto options = changed(loaded_.generation, settings, globals.seed);
  require_fitting(settings, options, *loaded_.model);
  if (!settings.reranker().empty())
    reranker_.emplace(settings.reranker(), loaded_.tokenizer.dictionary(), loaded_.model->device(),
                      loaded_.model->parameters().precision());
  generator_.emplace(*loaded_.model, options, reranker_ ? &*reranker_ : nullptr);
}

bool LoadedGenerator::searches() const {
  return model().ranks_candidates(options());
}

std::vector<std::vector<text::Id>> LoadedGenerator::encode(
    const std::vector<std::string>& lines) const {
  std::vector<std::vector<text::Id>> ids;
  for (const std::string& line : lines) {
    ids.push_back(loaded_.tokenizer.encode(line));
    ids.back().push_back(text::Dictionary::kEos);
  }
  return ids;
}

}  // namespace tessera::app
