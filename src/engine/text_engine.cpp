#include "engine/text_engine.h"

#include "base/require.h"
#include "engine/option_checks.h"
#include "engine/sampler_changes.h"
#include "engine/step_rows.h"
#include "text/utf8.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <charconv>
#include <numeric>

namespace tessera::engine {
namespace {

using text::Id;

std::optional<int64_t> positive_number(std::string_view text) {
  int64_t value = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool good = failure == std::errc() && end == text.data() + text.size() && value >= 1;
  return good ? std::optional(value) : std::nullopt;
}

// "5" is one length with 5 noises, "7x3" 7 lengths with 3 noises each.
void set_candidates(seq2seq::GenerationOptions& options, const std::string& text) {
  const size_t cross = text.find('x');
  const bool both = cross != std::string::npos;
  const auto lengths = both ? positive_number(text.substr(0, cross)) : std::optional<int64_t>(1);
  const auto noises = positive_number(both ? text.substr(cross + 1) : text);
  require_option(lengths && noises,
                 "candidates are a number (5) or lengths x noises (7x3), got '{}'", text);
  options.lengths = *lengths;
  options.noises = *noises;
}

// The stored options with the changes made. Throws UsageError.
seq2seq::GenerationOptions changed(seq2seq::GenerationOptions options,
                                   const GenerateOptions& changes) {
  if (changes.preset) use_preset(options, parse_name<seq2seq::Preset>(*changes.preset));
  options.sampler = engine::changed(options.sampler, changes);
  options.sampler.seed = 0;  // every request has its own
  if (changes.candidates) set_candidates(options, *changes.candidates);
  options.lengths = changes.lengths.value_or(options.lengths);
  options.noises = changes.noises.value_or(options.noises);
  options.merge_repeats = changes.merge_repeats.value_or(options.merge_repeats);
  if (changes.length_choice)
    options.length_choice = parse_name<seq2seq::LengthChoice>(*changes.length_choice);
  if (changes.length) options.length = seq2seq::LengthRule::parse(*changes.length);
  options.beam = changes.beam.value_or(options.beam);
  options.length_penalty = changes.length_penalty.value_or(options.length_penalty);
  options.temperature = changes.temperature.value_or(options.temperature);
  options.top_k = changes.top_k.value_or(options.top_k);
  if (changes.selection)
    options.selection = changes.selection->starts_with(kRerank)
                            ? seq2seq::Selection::rerank
                            : parse_name<seq2seq::Selection>(*changes.selection);
  options.batch_tokens = changes.batch_tokens.value_or(options.batch_tokens);
  if (changes.noise) options.noise = parse_name<seq2seq::NoiseOf>(*changes.noise);
  return options;
}

// Rows of a batch that belong to one request.
TextStep step_of(const seq2seq::GenerationStep& step, size_t place, const Codebook& codebook) {
  const auto first = static_cast<int64_t>(place) * step.candidates;
  TextStep result{rows_of(step.sample, first, step.candidates),
                  {},
                  step.calls,
                  step.visible.narrow(0, first, step.candidates)};
  const SampleStep& sample = result.sample;
  result.noisy = sample.noisy.defined() ? sample.noisy : codebook.decode(sample.x);
  return result;
}

}  // namespace

// Requests of a call that are generated together.
struct TextEngine::Group {
  seq2seq::GenerationOptions options;
  const seq2seq::Reranker* reranker = nullptr;
  bool watched = false, known_lengths = false;  // all of them, or none
  std::vector<size_t> members = {};             // places in the call
  std::vector<std::vector<Id>> sources = {};

  // Whether candidates are the results of a search, already in order.
  bool in_order(const seq2seq::Seq2Seq& model) const {
    return model.family() == nullptr && options.temperature == 0 && reranker == nullptr;
  }
};

struct TextEngine::Call {
  std::span<const TextRequest> requests;
  std::span<TextResult> results;
  const std::function<void(int64_t)>& progress;
};

TextEngine::TextEngine(const std::filesystem::path& model_folder, const LoadOptions& options,
                       at::Device device)
    : loaded_(seq2seq::load_model_folder(model_folder, device,
                                         nn::parse_precision(options.precision, device))),
      usual_reranker_(options.reranker) {
  if (!usual_reranker_.empty()) reranker_of({.selection = std::string(kRerank)});
}

const seq2seq::Reranker* TextEngine::reranker_of(const GenerateOptions& options) const {
  if (!options.selection || !options.selection->starts_with(kRerank)) return nullptr;
  std::filesystem::path folder = usual_reranker_;
  const std::string_view rest = std::string_view(*options.selection).substr(kRerank.size());
  if (rest.starts_with('=')) folder = rest.substr(1);
  require_option((rest.empty() || rest.starts_with('=')) && !folder.empty(),
                 "selection '{}' needs the model that chooses: rerank=MODEL", *options.selection);
  const std::lock_guard lock(mutex_);
  auto& reranker = rerankers_[folder];
  if (!reranker)
    reranker = std::make_unique<const seq2seq::Reranker>(folder, loaded_.tokenizer.dictionary(),
                                                         loaded_.model->device(),
                                                         loaded_.model->parameters().precision());
  return reranker.get();
}

std::vector<Id> TextEngine::symbols_of(std::string_view text) const {
  std::vector<Id> ids = loaded_.tokenizer.encode(text);
  ids.push_back(text::Dictionary::kEos);
  return ids;
}

std::vector<Id> TextEngine::source_of(const TextRequest& request, size_t place) const {
  if (request.symbols.empty()) {
    const size_t invalid = text::find_invalid_utf8(request.text);
    require(invalid == std::string::npos, "text {} is not UTF-8: byte {} (counted from 0)", place,
            invalid);
    return symbols_of(request.text);
  }
  const int64_t known = loaded_.tokenizer.dictionary().size();
  for (const int32_t id : request.symbols)
    require(id >= 0 && id < known, "text {}: the dictionary has {} symbols, and none of number {}",
            place, known, id);
  return request.symbols;
}

seq2seq::GenerationOptions TextEngine::resolved(const GenerateOptions& changes,
                                                Spelling spelling) const {
  check_options(changes, model(), loaded_.generation, spelling);
  return changed(loaded_.generation, changes);
}

GenerateOptions TextEngine::in_effect(const GenerateOptions& changes, Spelling spelling) const {
  const seq2seq::GenerationOptions options = resolved(changes, spelling);
  const seq2seq::Generator checked(model(), options, reranker_of(changes));
  GenerateOptions result;
  result.batch_tokens = options.batch_tokens;
  result.noise = name_of(options.noise);
  result.selection = changes.selection && options.selection == seq2seq::Selection::rerank
                         ? *changes.selection
                         : std::string(name_of(options.selection));
  if (model().family() == nullptr) {  // an autoregressive model
    result.beam = options.beam;
    result.length_penalty = options.length_penalty;
    result.temperature = options.temperature;
    result.top_k = options.top_k;
    return result;
  }
  describe(options.sampler, *model().family(), result);
  result.preset = name_of(options.preset);
  result.lengths = options.lengths;
  result.noises = options.noises;
  result.candidates = fmt::format("{}x{}", options.lengths, options.noises);
  result.length_choice = name_of(options.length_choice);
  result.merge_repeats = options.merge_repeats;
  result.length = changes.length;
  return result;
}

std::vector<TextResult> TextEngine::run(std::span<const TextRequest> requests,
                                        const std::function<void(int64_t)>& progress) const {
  std::vector<TextResult> results(requests.size());
  std::vector<Group> groups;
  const GenerateOptions* last = nullptr;  // what `resolved_last` was made from
  Group resolved_last;
  for (size_t k = 0; k < requests.size(); ++k) {
    const TextRequest& request = requests[k];
    try {
      if (last == nullptr || !(request.options == *last)) {
        resolved_last = {resolved(request.options), reranker_of(request.options)};
        last = &request.options;
      }
      resolved_last.watched = static_cast<bool>(request.on_step);
      resolved_last.known_lengths = request.target_length.has_value();
      std::vector<Id> source = source_of(request, k);
      auto group = std::ranges::find_if(groups, [&](const Group& each) {
        return each.options == resolved_last.options && each.reranker == resolved_last.reranker &&
               each.watched == resolved_last.watched &&
               each.known_lengths == resolved_last.known_lengths;
      });
      if (group == groups.end()) group = groups.insert(group, resolved_last);
      group->members.push_back(k);
      group->sources.push_back(std::move(source));
    } catch (...) {
      results[k] = {.outcome = Outcome::failed, .failure = std::current_exception()};
      if (progress) progress(1);
    }
  }
  const Call call{requests, results, progress};
  for (const Group& group : groups) {
    try {
      run_group(group, call);
    } catch (...) {
      for (const size_t k : group.members)
        results[k] = {.outcome = Outcome::failed, .failure = std::current_exception()};
    }
  }
  return results;
}

void TextEngine::run_group(const Group& group, const Call& call) const {
  const size_t count = group.members.size();
  const auto request = [&](size_t member) -> const TextRequest& {
    return call.requests[group.members[member]];
  };
  std::vector<int64_t> lines, lengths;
  std::vector<uint64_t> seeds;
  bool stoppable = false;
  for (size_t k = 0; k < count; ++k) {
    lines.push_back(request(k).line.value_or(static_cast<int64_t>(group.members[k])));
    seeds.push_back(request(k).seed);
    if (group.known_lengths) lengths.push_back(*request(k).target_length);
    stoppable |= request(k).stop.stop_possible();
  }
  seq2seq::GenerationOptions options = group.options;
  options.sampler.seed = seeds.front();
  seq2seq::GenerateHooks hooks;
  hooks.lines = lines;
  hooks.target_lengths = lengths;
  if (std::ranges::any_of(seeds, [&](uint64_t seed) { return seed != seeds.front(); }))
    hooks.seeds = seeds;
  hooks.progress = call.progress;

  std::vector<std::exception_ptr> failures(count);  // thrown by the hooks of requests
  if (stoppable || group.watched)
    hooks.stopped = [&](size_t k) { return failures[k] || request(k).stop.stop_requested(); };
  if (group.watched)
    hooks.step = [&](const seq2seq::GenerationStep& step) {
      for (size_t place = 0; place < step.sources.size(); ++place) {
        const size_t k = step.sources[place];
        if (hooks.stopped(k)) continue;
        try {
          request(k).on_step(step_of(step, place, model().codebook()));
        } catch (...) {
          failures[k] = std::current_exception();
        }
      }
    };

  const seq2seq::Generator generator(model(), options, group.reranker);
  const std::vector<seq2seq::Generated> generated = generator.generate(group.sources, hooks);
  for (size_t k = 0; k < count; ++k) {
    TextResult& result = call.results[group.members[k]];
    if (failures[k])
      result = {.outcome = Outcome::failed, .failure = failures[k]};
    else if (request(k).stop.stop_requested() || generated[k].candidates.empty())
      result = {.outcome = Outcome::stopped};
    else
      result = result_of(generated[k], group, request(k).candidate_texts);
  }
}

TextResult TextEngine::result_of(const seq2seq::Generated& generated, const Group& group,
                                 bool candidate_texts) const {
  const bool in_order = group.in_order(model());
  const seq2seq::Selection selection =
      in_order ? seq2seq::Selection::confidence : group.options.selection;
  TextResult result;
  for (const seq2seq::Candidate& each : generated.candidates)
    result.candidates.push_back({candidate_texts ? tokenizer().decode(each.ids) : "", each.ids,
                                 each.length, each.confidence, each.expected_bleu,
                                 each.length_log_probability, each.rerank_score, each.staged_score,
                                 score_of(each, selection)});
  result.chosen = generated.chosen;
  result.text =
      candidate_texts ? result.candidates[result.chosen].text : tokenizer().decode(generated.ids());
  result.ranking.resize(result.candidates.size());
  std::iota(result.ranking.begin(), result.ranking.end(), size_t{0});
  if (!in_order)
    std::stable_sort(result.ranking.begin(), result.ranking.end(), [&](size_t a, size_t b) {
      const bool first = a == result.chosen, second = b == result.chosen;
      return first != second ? first : result.candidates[a].score > result.candidates[b].score;
    });
  result.predicted_length = generated.predicted_length;
  result.nfe = generated.nfe;
  result.truncated = generated.truncated;
  return result;
}

}  // namespace tessera::engine
