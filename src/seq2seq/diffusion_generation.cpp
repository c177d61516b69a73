#include "seq2seq/diffusion_generation.h"

#include "base/require.h"
#include "process/interruptible.h"
#include "seq2seq/batch_stop.h"
#include "seq2seq/batch_workers.h"
#include "tensor/slices.h"

#include <tessera/tensor/random.h>

#include <ATen/ATen.h>

#include <algorithm>
#include <limits>
#include <mutex>
#include <optional>

namespace tessera::seq2seq {
namespace {

using text::Dictionary;
using text::Id;

// The result of a batch, still on the device.
struct Decoded {
  at::Tensor labels;             // [rows, L] int32
  at::Tensor log_probabilities;  // [rows, L] float
  int64_t calls;
};

// Room for a candidate.
struct Room {
  int64_t symbols = 1;         // end symbol included
  double log_probability = 0;  // by the length head; 0: it was not asked
};

// One call of generate().
class Generation {
 public:
  Generation(const Diffusion& model, const GenerationOptions& options, const GenerateHooks& hooks,
             std::span<const SourceSentence> sentences, std::span<Generated> results)
      : model_(model),
        options_(options),
        hooks_(hooks),
        sentences_(sentences),
        results_(results),
        rooms_(sentences.size()) {}

  void run() {
    find_lengths();
    std::vector<SentenceSize> sizes;
    for (size_t k = 0; k < sentences_.size(); ++k)
      sizes.push_back({source_length(k), std::ranges::max(rooms_[k], {}, &Room::symbols).symbols});
    // If somebody watches the steps, the batches come one after the other.
    for_each_batch(
        plan_batches(sizes, limits(options_.candidates())), model_.device(),
        [&](const GenerationBatch& batch) {
          while_waited_for(hooks_, sentences_, batch, [&](const std::function<void()>& pause) {
            collect(batch, decode(batch, pause));
          });
        },
        /*at_once=*/hooks_.step ? 1 : 0);
  }

 private:
  BatchLimits limits(int64_t candidates) const {
    const at::Device device = model_.device();
    return {candidates, std::min(options_.batch_tokens, largest_useful_batch(device)), positions(),
            batch_overhead(device)};
  }

  int64_t positions() const { return model_.options().network.positions; }

  at::TensorOptions ids_options() const {
    return at::TensorOptions().dtype(at::kLong).device(model_.device());
  }

  int64_t source_length(size_t sentence) const {
    return static_cast<int64_t>(sentences_[sentence].ids.size());
  }

  at::Tensor sources_of(const GenerationBatch& batch) const {
    return padded_sources(sentences_, batch, model_.device());
  }

  void find_lengths() {
    const std::optional<LengthRule>& rule = options_.length;
    if (!hooks_.target_lengths.empty()) {
      for (size_t k = 0; k < sentences_.size(); ++k) {
        const int64_t known = hooks_.target_lengths[sentences_[k].index];
        rooms_[k].assign(static_cast<size_t>(options_.lengths),
                         {std::clamp<int64_t>(known, 1, positions())});
      }
    } else if (rule && !rule->relative) {
      require_option(rule->value >= 0 && rule->value < positions(),
                     "the length must be in [0, {}] (the model's positions), got {}",
                     positions() - 1, rule->value);
      for (auto& rooms : rooms_)
        rooms.assign(static_cast<size_t>(options_.lengths), {rule->value + 1});
    } else {
      predict_lengths(rule ? rule->value : 0);
    }
    for (size_t k = 0; k < sentences_.size(); ++k)
      results_[sentences_[k].index].predicted_length = rooms_[k].front().symbols;
  }

  // Sentences are encoded twice, here and in decode(), because here batches depend on the length of
  // the source alone. This is a hundredth of the work, and the memories of all sentences need not
  // be kept.
  void predict_lengths(int64_t more) {
    std::vector<SentenceSize> sizes;
    for (size_t k = 0; k < sentences_.size(); ++k)
      sizes.push_back({source_length(k), source_length(k)});
    const std::vector<GenerationBatch> batches = plan_batches(sizes, limits(/*candidates=*/1));
    std::vector<at::Tensor> lengths, scores;
    for (const GenerationBatch& batch : batches) {
      const Lengths found = choose_lengths(batch);
      lengths.push_back(found.symbols);
      scores.push_back(found.log_probabilities);
    }
    const at::Tensor symbols = (at::cat(lengths) + more).clamp(1, positions()).cpu();
    const at::Tensor log_probabilities = at::cat(scores).cpu();

    const auto* length = symbols.const_data_ptr<int64_t>();
    const auto* score = log_probabilities.const_data_ptr<float>();
    for (const GenerationBatch& batch : batches)
      for (const size_t sentence : batch.sentences)
        for (int64_t k = 0; k < options_.lengths; ++k)
          rooms_[sentence].push_back({*length++, *score++});
  }

  struct Lengths {
    at::Tensor symbols;            // [B, lengths] int64
    at::Tensor log_probabilities;  // [B, lengths] float
  };

  Lengths choose_lengths(const GenerationBatch& batch) const {
    const at::Tensor source = sources_of(batch);  // [B, S]
    const at::Tensor offsets =
        at::arange(LengthClasses::kCount, ids_options()) - LengthClasses::kOffset;
    const at::Tensor lengths =
        source.ne(Dictionary::kPad).sum(1, /*keepdim=*/true) + offsets;  // [B, classes]
    const at::Tensor possible = lengths.ge(1).logical_and_(lengths.le(positions()));
    const at::Tensor scores =
        model_.length_scores(model_.encode(source))
            .masked_fill(possible.logical_not(), -std::numeric_limits<double>::infinity())
            .log_softmax(1);
    const at::Tensor classes = choose_classes(batch, scores, possible);
    return {lengths.gather(1, classes), scores.gather(1, classes)};
  }

  //   scores    [B, classes] float: log-probabilities
  //   possible  [B, classes] bool: one interval a row
  //   returns   [B, lengths] int64
  at::Tensor choose_classes(const GenerationBatch& batch, const at::Tensor& scores,
                            const at::Tensor& possible) const {
    // Classes beyond the possible ones become the shortest or the longest possible one.
    const at::Tensor first = possible.to(at::kInt).argmax(1, /*keepdim=*/true);
    const at::Tensor last = first + possible.sum(1, /*keepdim=*/true) - 1;
    switch (options_.length_choice) {
      case LengthChoice::window:
        return at::clamp(scores.argmax(1, /*keepdim=*/true) + window(), first, last);
      case LengthChoice::draw: {
        const at::Tensor below = scores.to(at::kDouble).exp().cumsum(1);
        const at::Tensor drawn =
            at::clamp(at::searchsorted(below, uniform_numbers(batch), /*out_int32=*/false,
                                       /*right=*/true),
                      first, last);
        const at::Tensor order =
            scores.gather(1, drawn).argsort(/*stable=*/true, 1, /*descending=*/true);
        return drawn.gather(1, order);
      }
      case LengthChoice::likeliest:
        break;
    }
    return std::get<1>(scores.topk(options_.lengths, 1));
  }

  // In [0, 1), a function of seed and SourceSentence::noise: [B, lengths] double
  at::Tensor uniform_numbers(const GenerationBatch& batch) const {
    std::vector<double> numbers;
    for (const size_t sentence : batch.sentences) {
      // Step 0 is for the start noise of candidates.
      RandomStream stream({sentences_[sentence].seed, Purpose::sampling, 1},
                          static_cast<uint64_t>(sentences_[sentence].noise));
      for (int64_t k = 0; k < options_.lengths; ++k) numbers.push_back(stream.uniform());
    }
    return at::tensor(numbers, at::kDouble).view({-1, options_.lengths}).to(model_.device());
  }

  // 0, 1, -1, 2, -2, ...   [1, lengths]
  at::Tensor window() const {
    std::vector<int64_t> places;
    for (int64_t k = 0; k < options_.lengths; ++k)
      places.push_back(k % 2 == 1 ? (k + 1) / 2 : -k / 2);
    return at::tensor(places, at::kLong).to(model_.device()).unsqueeze(0);
  }

  Decoded decode(const GenerationBatch& batch, const std::function<void()>& pause) const {
    const int64_t candidates = options_.candidates();
    std::vector<size_t> sources;
    std::vector<int64_t> lengths;
    for (const size_t place : batch.sentences) {
      sources.push_back(sentences_[place].index);
      for (int64_t k = 0; k < candidates; ++k)
        lengths.push_back(rooms_[place][k / options_.noises].symbols);
    }
    const at::Tensor ends = at::tensor(lengths, at::kLong).to(model_.device());
    const at::Tensor visible = at::arange(batch.target, ids_options()).lt(ends.unsqueeze(1));
    const Encoded encoded = model_.encode(sources_of(batch));
    const int64_t calls = model_.family()->calls(options_.sampler);
    StepCallback watch;
    if (hooks_.step)
      watch = [&](const SampleStep& step) {
        hooks_.step({step, sources, candidates, calls, visible});
        return true;
      };
    at::Tensor seeds;
    if (!hooks_.seeds.empty()) seeds = sample_seeds(sentences_, batch, candidates, model_.device());
    const Sample sample =
        model_.family()->reverse(interruptible(model_.denoiser(encoded, visible), pause),
                                 sample_numbers(sentences_, batch, candidates, model_.device()),
                                 {batch.target}, options_.sampler, watch, seeds, visible);
    return {sample.labels.to(at::kInt), log_probabilities(sample), sample.calls};
  }

  at::Tensor log_probabilities(const Sample& sample) const {
    if (sample.log_probabilities.defined()) return sample.log_probabilities;
    const EmbeddingTable& codebook = model_.codebook();
    const at::Tensor x0 = sample.x0.flatten(0, 1) * model_.options().objective.logit_scale,
                     labels = sample.labels.flatten();
    const auto losses = [&](int64_t begin, int64_t count) {
      return codebook.cross_entropy(x0.narrow(0, begin, count), labels.narrow(0, begin, count));
    };
    return in_slices(labels.size(0), codebook.symbols(), model_.device(), losses)
        .neg_()
        .view(sample.labels.sizes());
  }

  void collect(const GenerationBatch& batch, const Decoded& decoded) {
    const at::Tensor labels = decoded.labels.cpu();
    const at::Tensor log_probabilities = decoded.log_probabilities.cpu();
    const auto* symbols = labels.const_data_ptr<Id>();
    const auto* scores = log_probabilities.const_data_ptr<float>();
    for (const size_t place : batch.sentences) {
      Generated& result = results_[sentences_[place].index];
      result.nfe = decoded.calls;
      for (int64_t k = 0; k < options_.candidates(); ++k) {
        const Room& room = rooms_[place][k / options_.noises];
        const auto length = static_cast<size_t>(room.symbols);
        Candidate candidate = cut_candidate({symbols, length}, {scores, length});
        candidate.length_log_probability = room.log_probability;
        if (options_.merge_repeats) merge_repeats(candidate);
        result.candidates.push_back(std::move(candidate));
        symbols += batch.target;
        scores += batch.target;
      }
      measure_agreement(result.candidates);
      if (options_.selection == Selection::staged) measure_stages(result.candidates);
      result.chosen = choose(result.candidates, options_.selection);
    }
    const std::lock_guard<std::mutex> lock(reporting_);
    if (hooks_.progress) hooks_.progress(static_cast<int64_t>(batch.sentences.size()));
  }

  const Diffusion& model_;
  const GenerationOptions& options_;
  const GenerateHooks& hooks_;
  std::span<const SourceSentence> sentences_;
  std::span<Generated> results_;
  std::vector<std::vector<Room>> rooms_;  // of a sentence's candidates, likeliest first
  std::mutex reporting_;                  // one report of progress at a time
};

}  // namespace

void generate_by_diffusion(const Diffusion& model, const GenerationOptions& options,
                           const GenerateHooks& hooks, std::span<const SourceSentence> sentences,
                           std::span<Generated> results) {
  if (!sentences.empty()) Generation(model, options, hooks, sentences, results).run();
}

}  // namespace tessera::seq2seq
