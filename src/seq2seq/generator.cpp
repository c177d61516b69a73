#include "seq2seq/generator.h"

#include "base/log.h"
#include "base/require.h"
#include "seq2seq/diffusion.h"
#include "tensor/out_of_memory.h"

#include <tessera/base/out_of_memory.h>
#include <tessera/tensor/value_checks.h>

#include <c10/core/GradMode.h>
#include <c10/util/Exception.h>

namespace tessera::seq2seq {
namespace {

using text::Dictionary;
using text::Id;

// A hash of the text (FNV-1a), the same on every line.
int64_t number_of(const std::vector<Id>& source) {
  uint64_t hash = 14695981039346656037ULL;
  for (const Id id : source) hash = (hash ^ static_cast<uint64_t>(id)) * 1099511628211ULL;
  return static_cast<int64_t>(hash >> 21);  // stays below 2^56 with a candidate's number
}

// Noise on points may be the same for all texts. Symbols are drawn: with the same number, all texts
// would get an unlikely symbol at the same position.
int64_t noise_of(NoiseOf noise, int64_t line, const std::vector<Id>& source, const Seq2Seq& model) {
  if (noise == NoiseOf::lines) return line;
  const Family* const family = model.family();
  return family != nullptr && family->draws_symbols() ? number_of(source) : 0;
}

// The sentences to generate from. Empty ones get their result here.
std::vector<SourceSentence> take(const std::vector<std::vector<Id>>& sources,
                                 const GenerationOptions& options, const GenerateHooks& hooks,
                                 const Seq2Seq& model, std::vector<Generated>& results) {
  std::vector<SourceSentence> sentences;
  const int64_t positions = model.options().network.positions;
  const auto longest = static_cast<size_t>(positions);
  for (size_t k = 0; k < sources.size(); ++k) {
    const std::vector<Id>& source = sources[k];
    if (source.empty() || (source.size() == 1 && source[0] == Dictionary::kEos)) {
      results[k].candidates.resize(1);
      if (hooks.progress) hooks.progress(1);
      continue;
    }
    const int64_t line = hooks.lines.empty() ? static_cast<int64_t>(k) : hooks.lines[k];
    SourceSentence sentence{k, line, source,
                            hooks.seeds.empty() ? options.sampler.seed : hooks.seeds[k],
                            noise_of(options.noise, line, source, model)};
    if (source.size() > longest) {
      log::warn("line {}: {} symbols, of which the model can read {}: the rest is left out",
                sentence.line + 1, source.size() - 1, longest - 1);
      results[k].truncated = true;
      sentence.shorten_to(positions);
    }
    sentences.push_back(std::move(sentence));
  }
  return sentences;
}

}  // namespace

Generator::Generator(const Seq2Seq& model, const GenerationOptions& options,
                     const Reranker* reranker)
    : model_(&model), options_(options), reranker_(reranker) {
  require_option(options.lengths >= 1 && options.lengths <= LengthClasses::kCount,
                 "the number of lengths must be in [1, {}], got {}", LengthClasses::kCount,
                 options.lengths);
  require_option(options.noises >= 1 && options.noises <= kMaxCandidates &&
                     options.candidates() <= kMaxCandidates,
                 "a sentence can have 1 to {} candidates, got {} lengths x {} noises",
                 kMaxCandidates, options.lengths, options.noises);
  require_option(options.batch_tokens >= 1, "generate.batch_tokens must be at least 1, got {}",
                 options.batch_tokens);
  require_option(options.selection != Selection::rerank || reranker != nullptr,
                 "selection 'rerank' needs the model that chooses (--selection rerank=MODEL)");
  model.check(options);
}

std::vector<Generated> Generator::generate(const std::vector<std::vector<Id>>& sources,
                                           const GenerateHooks& hooks) const {
  const auto require_each = [&](size_t count, const char* what) {
    require(count == 0 || count == sources.size(), "there are {} {} for {} sources", count, what,
            sources.size());
  };
  require_each(hooks.lines.size(), "line numbers");
  require_each(hooks.seeds.size(), "seeds");
  require_each(hooks.target_lengths.size(), "lengths");
  for (const int64_t line : hooks.lines)
    require(line >= 0, "line numbers begin at 0, got {}", line);
  const c10::NoGradGuard no_grad;
  const ValueCheckScope checks;
  std::vector<Generated> results(sources.size());
  const std::vector<SourceSentence> sentences = take(sources, options_, hooks, *model_, results);
  try {
    model_->generate(options_, hooks, sentences, results);
    if (reranker_ != nullptr) reranker_->choose(sentences, results, options_.batch_tokens);
  } catch (const c10::Error& error) {
    if (!is_out_of_memory(error)) throw;
    throw OutOfMemory(
        "the device has no memory left for a batch",
        fmt::format("lower generate.batch_tokens (--batch-tokens), now {}", options_.batch_tokens));
  }
  raise_deferred_errors();
  return results;
}

}  // namespace tessera::seq2seq
