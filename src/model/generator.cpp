#include "model/generator.h"

#include "base/log.h"
#include "base/require.h"
#include "model/generation_batches.h"

#include <tessera/base/value_checks.h>

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <string>

namespace tessera::model {
namespace {

using text::Dictionary;
using text::Id;

// What a batch costs beside its tokens (BatchLimits::overhead). Estimates: a step launches a few
// hundred kernels, which takes about 2 ms, in which a large GPU computes thousands of tokens.
constexpr int64_t kOverheadCuda = 8000, kOverheadCpu = 64;

// A source that is not empty, and the lengths of its candidates.
struct Sentence {
  size_t index;  // among the sources
  int64_t line;  // its number
  std::vector<Id> source;
  std::vector<int64_t> lengths;  // likeliest first, end symbol included
};

// What a batch gave, still on the device.
struct Decoded {
  const GenerationBatch* batch;
  at::Tensor labels;             // [rows, L] int32
  at::Tensor log_probabilities;  // [rows, L] float
  int64_t calls;
};

// One call of generate().
class Generation {
 public:
  Generation(const Seq2Seq& model, const GenerationOptions& options, const GenerateHooks& hooks)
      : model_(model), options_(options), hooks_(hooks) {}

  std::vector<Generated> run(const std::vector<std::vector<Id>>& sources) {
    results_.resize(sources.size());
    for (size_t i = 0; i < sources.size(); ++i) take(i, sources[i]);
    find_lengths();

    std::vector<SentenceSize> sizes;
    for (const Sentence& sentence : sentences_)
      sizes.push_back({static_cast<int64_t>(sentence.source.size()),
                       *std::max_element(sentence.lengths.begin(), sentence.lengths.end())});
    const std::vector<GenerationBatch> batches = plan_batches(sizes, limits(options_.candidates()));

    // A batch is read while the device works on the next one.
    std::optional<Decoded> waiting;
    for (const GenerationBatch& batch : batches) {
      Decoded decoded = decode(batch);
      if (waiting) collect(*waiting);
      waiting = std::move(decoded);
    }
    if (waiting) collect(*waiting);
    if (!model_.device().is_cpu()) raise_deferred_errors();
    return std::move(results_);
  }

 private:
  BatchLimits limits(int64_t candidates) const {
    const int64_t overhead = model_.device().is_cpu() ? kOverheadCpu : kOverheadCuda;
    return {candidates, options_.batch_tokens, positions(), overhead};
  }

  int64_t positions() const { return model_.options().network.positions; }

  at::TensorOptions ids_options() const {
    return at::TensorOptions().dtype(at::kLong).device(model_.device());
  }

  void take(size_t index, const std::vector<Id>& source) {
    const bool empty = source.empty() || (source.size() == 1 && source[0] == Dictionary::kEos);
    if (empty) {
      results_[index].candidates.resize(1);
      if (hooks_.progress) hooks_.progress(1);
      return;
    }
    Sentence sentence{index, hooks_.first_line + static_cast<int64_t>(index), source, {}};
    const auto longest = static_cast<size_t>(positions());
    if (source.size() > longest) {
      log::warn("line {}: {} symbols, of which the model can read {}: the rest is left out",
                sentence.line + 1, source.size() - 1, longest - 1);
      results_[index].truncated = true;
      sentence.source.resize(longest);
      sentence.source.back() = Dictionary::kEos;
    }
    sentences_.push_back(std::move(sentence));
  }

  // [sentences, padded] on the device
  at::Tensor sources_of(const GenerationBatch& batch) const {
    const auto rows = static_cast<int64_t>(batch.sentences.size());
    at::Tensor ids = at::full({rows, batch.source}, int64_t{Dictionary::kPad}, at::kLong);
    auto* row = ids.mutable_data_ptr<int64_t>();
    for (const size_t sentence : batch.sentences) {
      const std::vector<Id>& source = sentences_[sentence].source;
      std::copy(source.begin(), source.end(), row);
      row += batch.source;
    }
    return ids.to(model_.device());
  }

  void find_lengths() {
    const std::optional<LengthRule>& rule = options_.length;
    if (rule && !rule->relative) {
      require_option(rule->value >= 0 && rule->value < positions(),
                     "the length must be in [0, {}] (the model's positions), got {}",
                     positions() - 1, rule->value);
      for (Sentence& sentence : sentences_)
        sentence.lengths.assign(static_cast<size_t>(options_.lengths), rule->value + 1);
    } else if (!sentences_.empty()) {
      predict_lengths(rule ? rule->value : 0);
    }
    for (const Sentence& sentence : sentences_)
      results_[sentence.index].predicted_length = sentence.lengths.front();
  }

  // Sentences are read twice, here and in decode(): by lengths of the source alone first. That is
  // a hundredth of the work, and the memories of all sentences need not be kept.
  void predict_lengths(int64_t more) {
    std::vector<SentenceSize> sizes;
    for (const Sentence& sentence : sentences_) {
      const auto length = static_cast<int64_t>(sentence.source.size());
      sizes.push_back({length, length});
    }
    const std::vector<GenerationBatch> batches = plan_batches(sizes, limits(/*candidates=*/1));
    std::vector<at::Tensor> found;
    for (const GenerationBatch& batch : batches)
      found.push_back(likeliest_lengths(model_.encode(sources_of(batch))));
    const at::Tensor lengths = (at::cat(found) + more).clamp(1, positions()).cpu();

    const auto* next = lengths.const_data_ptr<int64_t>();
    for (const GenerationBatch& batch : batches)
      for (const size_t sentence : batch.sentences) {
        sentences_[sentence].lengths.assign(next, next + options_.lengths);
        next += options_.lengths;
      }
  }

  // [B, lengths]
  at::Tensor likeliest_lengths(const Encoded& encoded) const {
    const at::Tensor offsets =
        at::arange(LengthClasses::kCount, ids_options()) - LengthClasses::kOffset;
    const at::Tensor lengths = encoded.source_lengths.unsqueeze(1) + offsets;  // [B, classes]
    const at::Tensor possible = lengths.ge(1).logical_and_(lengths.le(positions()));
    const at::Tensor scores = encoded.length_scores.masked_fill(
        possible.logical_not(), -std::numeric_limits<double>::infinity());
    return lengths.gather(1, std::get<1>(scores.topk(options_.lengths, 1)));
  }

  Decoded decode(const GenerationBatch& batch) const {
    const int64_t candidates = options_.candidates();
    std::vector<int64_t> lines, samples, lengths;
    for (const size_t place : batch.sentences) {
      const Sentence& sentence = sentences_[place];
      lines.push_back(sentence.line);
      for (int64_t k = 0; k < candidates; ++k) {
        samples.push_back(sentence.line * kMaxCandidates + k);
        lengths.push_back(sentence.lengths[k / options_.noises]);
      }
    }
    const auto on_device = [&](const std::vector<int64_t>& numbers) {
      return at::tensor(numbers, at::kLong).to(model_.device());
    };
    const at::Tensor visible =
        at::arange(batch.target, ids_options()).lt(on_device(lengths).unsqueeze(1));
    const Encoded encoded = model_.encode(sources_of(batch));
    const Sampler sampler(model_.process(), model_.codebook(), model_.denoiser(encoded, visible),
                          options_.sampler);
    StepCallback watch;
    if (hooks_.step)
      watch = [&](const SampleStep& step) {
        hooks_.step({step, lines, candidates, visible});
        return true;
      };
    const Sample sample =
        sampler.run(on_device(samples), {batch.target, model_.codebook().dim()}, watch);
    return {&batch, sample.labels.to(at::kInt), log_probabilities(sample), sample.calls};
  }

  // In slices: elements x symbols are too many to keep.
  at::Tensor log_probabilities(const Sample& sample) const {
    const EmbeddingTable& codebook = model_.codebook();
    const int64_t scores = model_.device().is_cpu() ? int64_t{1} << 22 : int64_t{1} << 26;
    const int64_t slice = std::max<int64_t>(1, scores / codebook.symbols());
    const at::Tensor x0 = sample.x0.flatten(0, 1), labels = sample.labels.flatten();
    std::vector<at::Tensor> parts;
    for (int64_t begin = 0; begin < labels.size(0); begin += slice) {
      const int64_t count = std::min(slice, labels.size(0) - begin);
      parts.push_back(
          codebook.cross_entropy(x0.narrow(0, begin, count), labels.narrow(0, begin, count)));
    }
    return at::cat(parts).neg_().view(sample.labels.sizes());
  }

  void collect(const Decoded& decoded) {
    const at::Tensor labels = decoded.labels.cpu();
    const at::Tensor log_probabilities = decoded.log_probabilities.cpu();
    const auto* symbols = labels.const_data_ptr<Id>();
    const auto* scores = log_probabilities.const_data_ptr<float>();
    for (const size_t place : decoded.batch->sentences) {
      const Sentence& sentence = sentences_[place];
      Generated& result = results_[sentence.index];
      result.nfe = decoded.calls;
      for (int64_t k = 0; k < options_.candidates(); ++k) {
        const auto length = static_cast<size_t>(sentence.lengths[k / options_.noises]);
        result.candidates.push_back(cut_candidate({symbols, length}, {scores, length}));
        symbols += decoded.batch->target;
        scores += decoded.batch->target;
      }
      measure_agreement(result.candidates);
      result.chosen = choose(result.candidates, options_.selection);
    }
    if (hooks_.progress) hooks_.progress(static_cast<int64_t>(decoded.batch->sentences.size()));
  }

  const Seq2Seq& model_;
  const GenerationOptions& options_;
  const GenerateHooks& hooks_;
  std::vector<Sentence> sentences_;
  std::vector<Generated> results_;
};

}  // namespace

Generator::Generator(const Seq2Seq& model, const GenerationOptions& options)
    : model_(&model), options_(options) {
  require_option(options.lengths >= 1 && options.lengths <= LengthClasses::kCount,
                 "the number of lengths must be in [1, {}], got {}", LengthClasses::kCount,
                 options.lengths);
  require_option(options.noises >= 1 && options.candidates() <= kMaxCandidates,
                 "a sentence can have 1 to {} candidates, got {} lengths x {} noises",
                 kMaxCandidates, options.lengths, options.noises);
  require_option(options.batch_tokens >= 1, "generate.batch_tokens must be at least 1, got {}",
                 options.batch_tokens);
  // Says at once what is wrong with the sampler's options.
  const Denoiser identity = [](const at::Tensor& x, const at::Tensor&, const at::Tensor&) {
    return x;
  };
  const Sampler checked(model.process(), model.codebook(), identity, options.sampler);
}

std::vector<Generated> Generator::generate(const std::vector<std::vector<Id>>& sources,
                                           const GenerateHooks& hooks) const {
  require(hooks.first_line >= 0, "line numbers begin at 0, got {}", hooks.first_line);
  const c10::NoGradGuard no_grad;
  try {
    return Generation(*model_, options_, hooks).run(sources);
  } catch (const c10::OutOfMemoryError&) {
    throw Error(
        "the device has no memory left for a batch",
        fmt::format("lower generate.batch_tokens (--batch-tokens), now {}", options_.batch_tokens));
  }
}

}  // namespace tessera::model
