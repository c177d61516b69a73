#include "seq2seq/beam_search.h"

#include "base/infinity.h"
#include "seq2seq/batch_stop.h"
#include "seq2seq/batch_workers.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <mutex>

namespace tessera::seq2seq {
namespace {

using text::Dictionary;

// The most symbols a target may have, end included. Hardly any source is shorter than half its
// target.
int64_t room_for(int64_t source, int64_t positions) {
  return std::min(positions, 2 * source + 16);
}

// The room for every target. It depends on its own source, not on the other sources of the batch.
class TargetRoom {
 public:
  // For `each` targets of every sentence of a batch.
  TargetRoom(std::span<const SourceSentence> sentences, const GenerationBatch& batch,
             int64_t positions, int64_t each, at::Device device) {
    std::vector<int64_t> rooms;
    for (const size_t place : batch.sentences)
      rooms.insert(rooms.end(), static_cast<size_t>(each),
                   room_for(static_cast<int64_t>(sentences[place].ids.size()), positions));
    most_ = *std::max_element(rooms.begin(), rooms.end());
    least_ = *std::min_element(rooms.begin(), rooms.end());
    rooms_ = at::tensor(rooms, at::kLong).to(device);
  }

  int64_t most() const { return most_; }

  // Log-probabilities of the next symbols at a step. At the last place only the end fits.
  //   scores [rows, symbols]
  at::Tensor log_probabilities(const at::Tensor& scores, int64_t step) const {
    const at::Tensor all = at::log_softmax(scores, -1);
    if (step + 1 < least_) return all;
    const at::Tensor end = at::full_like(all, -kInfinity);
    end.select(-1, Dictionary::kEos).copy_(all.select(-1, Dictionary::kEos));
    return at::where(rooms_.le(step + 1).unsqueeze(1), end, all);
  }

 private:
  int64_t most_ = 0, least_ = 0;
  at::Tensor rooms_;  // [rows]
};

// Complete hypotheses, on the device.   B sentences, K of each
struct Hypotheses {
  at::Tensor symbols;            // [B, K, room] int64, anything after the end
  at::Tensor log_probabilities;  // [B, K] of all symbols, end included; -inf: no hypothesis
  at::Tensor lengths;            // [B, K] symbols, end included
  int64_t steps = 0;             // network calls
};

// The K hypotheses of a sentence advance together. Those that end join the K best complete ones. A
// sentence is done when it has K complete ones.
class BeamSearch {
 public:
  BeamSearch(const Autoregressive& model, const GenerationOptions& options, const Encoded& encoded,
             const TargetRoom& room)
      : model_(model),
        encoded_(encoded),
        beam_(options.beam),
        penalty_(options.length_penalty),
        room_(room),
        rows_(encoded.visible.size(0)),
        cache_(model.start(rows_ * beam_, room.most())) {
    const auto ids = encoded.visible.options().dtype(at::kLong);
    const auto floats = ids.dtype(at::kFloat);
    last_ = at::full({rows_ * beam_}, int64_t{Dictionary::kBos}, ids);
    symbols_ = at::full({rows_, beam_, room.most()}, int64_t{Dictionary::kPad}, ids);
    // All hypotheses are the same in the beginning: only the first one counts.
    scores_ = at::full({rows_, beam_}, -kInfinity, floats);
    scores_.select(1, 0).zero_();
    first_row_ = at::arange(rows_, ids).unsqueeze(1) * beam_;
    done_.symbols = symbols_.clone();
    done_.log_probabilities = at::full({rows_, beam_}, -kInfinity, floats);
    done_.lengths = at::ones({rows_, beam_}, ids);
    found_ = at::zeros({rows_}, ids);
  }

  Hypotheses run(const std::function<void()>& pause) {
    for (int64_t step = 0; step < room_.most(); ++step) {
      if (pause) pause();
      advance(step);
      // Waiting for the device costs a little, useless steps cost more.
      if (step % 2 == 1 && found_.ge(beam_).all().item<bool>()) break;
    }
    return done_;
  }

 private:
  // Log-probability over length to the power of the penalty.
  at::Tensor normalised(const at::Tensor& scores, const at::Tensor& lengths) const {
    return scores / lengths.to(at::kFloat).pow(penalty_);
  }

  void advance(int64_t step) {
    const at::Tensor next =
        room_.log_probabilities(model_.next_scores(cache_, last_, encoded_), step);
    ++done_.steps;
    // Each hypothesis can end in one way only, so at most K of the 2 K best continuations end. The
    // 2 K best of all are among the 2 K best of every hypothesis.
    const int64_t each = std::min(2 * beam_, next.size(-1));
    const auto [best, own_symbol] = next.view({rows_, beam_, -1}).topk(each, -1);
    const auto [scores, places] =
        (scores_.unsqueeze(-1) + best).flatten(1).topk(std::min(2 * beam_, beam_ * each), -1);
    const at::Tensor parents = places.div(each, "floor");
    const at::Tensor symbol = own_symbol.flatten(1).gather(1, places);
    const at::Tensor ends = symbol.eq(Dictionary::kEos);

    keep_complete(step, scores, parents, ends);
    // Those that do not end go on, best first.
    const auto [alive, order] = scores.masked_fill(ends, -kInfinity).topk(beam_, -1);
    const at::Tensor parent = parents.gather(1, order);
    symbols_ = symbols_.gather(1, parent.unsqueeze(-1).expand({rows_, beam_, room_.most()}));
    symbols_.select(2, step).copy_(symbol.gather(1, order));
    scores_ = alive;
    last_ = symbols_.select(2, step).flatten();
    if (beam_ > 1) cache_.select((first_row_ + parent).flatten());
  }

  void keep_complete(int64_t step, const at::Tensor& scores, const at::Tensor& parents,
                     const at::Tensor& ends) {
    // An end must be among the K best: a beam of K would not have found a worse one.
    const int64_t width = std::min(beam_, scores.size(1));
    const at::Tensor first =
        ends.narrow(1, 0, width)
            .logical_and(found_.unsqueeze(1).lt(beam_));  // a sentence that is done takes no more
    const at::Tensor ended =
        scores.narrow(1, 0, width).masked_fill(first.logical_not(), -kInfinity);
    at::Tensor whole = symbols_.gather(
        1, parents.narrow(1, 0, width).unsqueeze(-1).expand({rows_, width, room_.most()}));
    whole.select(2, step).fill_(int64_t{Dictionary::kEos});
    const at::Tensor lengths = at::full_like(parents.narrow(1, 0, width), step + 1);

    const at::Tensor all_scores = at::cat({done_.log_probabilities, ended}, 1);
    const at::Tensor all_lengths = at::cat({done_.lengths, lengths}, 1);
    const at::Tensor order = std::get<1>(normalised(all_scores, all_lengths).topk(beam_, -1));
    done_.log_probabilities = all_scores.gather(1, order);
    done_.lengths = all_lengths.gather(1, order);
    done_.symbols = at::cat({done_.symbols, whole}, 1)
                        .gather(1, order.unsqueeze(-1).expand({rows_, beam_, room_.most()}));
    found_ += ended.gt(-kInfinity).sum(1);
  }

  const Autoregressive& model_;
  const Encoded& encoded_;
  int64_t beam_;
  double penalty_;
  const TargetRoom& room_;
  int64_t rows_;
  nn::KeyCache cache_;
  at::Tensor last_;       // [B * K] the symbols before
  at::Tensor symbols_;    // [B, K, room] of hypotheses that go on
  at::Tensor scores_;     // [B, K] their log-probabilities
  at::Tensor first_row_;  // [B, 1] of a sentence, among the model's rows
  at::Tensor found_;      // [B] complete hypotheses so far
  Hypotheses done_;
};

// K sentences drawn from the model, each with random numbers of its own.
class Drawing {
 public:
  Drawing(const Autoregressive& model, const GenerationOptions& options, const Encoded& encoded,
          const TargetRoom& room, const at::Tensor& samples, const at::Tensor& seeds)
      : model_(model),
        options_(options),
        encoded_(encoded),
        room_(room),
        samples_(samples),
        seeds_(seeds) {}

  Hypotheses run(const std::function<void()>& pause) {
    const int64_t count = samples_.size(0), rows = count / options_.beam;
    nn::KeyCache cache = model_.start(count, room_.most());
    at::Tensor last = at::full_like(samples_, int64_t{Dictionary::kBos});
    at::Tensor going = at::ones_like(samples_, at::kBool);
    at::Tensor scores = at::zeros(count, samples_.options().dtype(at::kFloat));
    at::Tensor lengths = at::zeros_like(samples_);
    at::Tensor symbols =
        at::full({count, room_.most()}, int64_t{Dictionary::kPad}, samples_.options());
    int64_t step = 0;
    for (; step < room_.most(); ++step) {
      if (pause) pause();
      const at::Tensor next =
          room_.log_probabilities(model_.next_scores(cache, last, encoded_), step);
      last = draw(next, step);
      scores += next.gather(1, last.unsqueeze(1)).squeeze(1).masked_fill(going.logical_not(), 0);
      lengths += going;
      symbols.select(1, step).copy_(last);
      going = going.logical_and(last.ne(Dictionary::kEos));
      if (step % 2 == 1 && !going.any().item<bool>()) break;
    }
    return {symbols.view({rows, options_.beam, room_.most()}), scores.view({rows, options_.beam}),
            lengths.view({rows, options_.beam}), std::min(step + 1, room_.most())};
  }

 private:
  // [rows, symbols] -> [rows]
  at::Tensor draw(const at::Tensor& log_probabilities, int64_t step) const {
    at::Tensor scores = log_probabilities / options_.temperature;
    if (options_.top_k > 0 && options_.top_k < scores.size(1)) {
      const at::Tensor least =
          std::get<0>(scores.topk(options_.top_k, -1)).narrow(1, options_.top_k - 1, 1);
      scores = scores.masked_fill(scores.lt(least), -kInfinity);
    }
    constexpr int64_t kSteps = int64_t{1} << 24;
    const StreamId id{options_.sampler.seed, Purpose::sampling_step, static_cast<uint64_t>(step)};
    const at::Tensor uniform =
        (random_integers(id, samples_, 0, kSteps - 1, seeds_).to(at::kDouble) + 0.5) / kSteps;
    // In float64, because many small shares add up in the tail.
    const at::Tensor share = at::softmax(scores.to(at::kDouble), -1).cumsum(-1);
    const at::Tensor total = share.select(1, -1).unsqueeze(1);
    return at::searchsorted(share, uniform.unsqueeze(1) * total)
        .squeeze(1)
        .clamp_max(scores.size(1) - 1);
  }

  const Autoregressive& model_;
  const GenerationOptions& options_;
  const Encoded& encoded_;
  const TargetRoom& room_;
  at::Tensor samples_;  // [B * K]
  at::Tensor seeds_;    // likewise; undefined: the options' seed is used
};

// Candidates of a sentence, best first.
void collect(const Hypotheses& found, const GenerationBatch& batch, bool drawn,
             const GenerationOptions& options, std::span<const SourceSentence> sentences,
             std::span<Generated> results) {
  const at::Tensor symbols = found.symbols.cpu().contiguous(),
                   lengths = found.lengths.cpu().contiguous();
  const at::Tensor scores = found.log_probabilities.cpu().contiguous();
  const int64_t beam = symbols.size(1), room = symbols.size(2);
  for (size_t b = 0; b < batch.sentences.size(); ++b) {
    Generated& result = results[sentences[batch.sentences[b]].index];
    result.nfe = found.steps;
    for (int64_t k = 0; k < beam; ++k) {
      const int64_t row = static_cast<int64_t>(b) * beam + k;
      const auto score = static_cast<double>(scores.const_data_ptr<float>()[row]);
      if (score == -kInfinity) continue;
      const int64_t length = lengths.const_data_ptr<int64_t>()[row];
      const int64_t* begin = symbols.const_data_ptr<int64_t>() + row * room;
      Candidate candidate;
      candidate.ids.assign(begin, begin + length - 1);  // without the end
      candidate.length = length;
      candidate.confidence = score / static_cast<double>(length);
      result.candidates.push_back(std::move(candidate));
    }
    measure_agreement(result.candidates);
    if (drawn) result.chosen = choose(result.candidates, options.selection);
    result.predicted_length = result.best().length;
  }
}

}  // namespace

void generate_by_search(const Autoregressive& model, const GenerationOptions& options,
                        const GenerateHooks& hooks, std::span<const SourceSentence> sentences,
                        std::span<Generated> results) {
  const int64_t positions = model.options().network.positions;
  std::vector<SentenceSize> sizes;
  for (const SourceSentence& sentence : sentences) {
    const auto length = static_cast<int64_t>(sentence.ids.size());
    sizes.push_back({length, length});
  }
  const BatchLimits limits{options.beam, options.batch_tokens, positions,
                           batch_overhead(model.device())};
  std::mutex reporting;
  const auto search = [&](const GenerationBatch& batch, const std::function<void()>& pause) {
    const Encoded encoded = model.encode(padded_sources(sentences, batch, model.device()));
    const TargetRoom room(sentences, batch, positions, options.beam, model.device());
    const bool drawn = options.temperature > 0;
    at::Tensor seeds;
    if (drawn && !hooks.seeds.empty())
      seeds = sample_seeds(sentences, batch, options.beam, model.device());
    const Hypotheses found =
        drawn ? Drawing(model, options, encoded, room,
                        sample_numbers(sentences, batch, options.beam, model.device()), seeds)
                    .run(pause)
              : BeamSearch(model, options, encoded, room).run(pause);
    collect(found, batch, drawn, options, sentences, results);
    const std::lock_guard<std::mutex> lock(reporting);
    if (hooks.progress) hooks.progress(static_cast<int64_t>(batch.sentences.size()));
  };
  for_each_batch(plan_batches(sizes, limits), model.device(), [&](const GenerationBatch& batch) {
    while_waited_for(hooks, sentences, batch,
                     [&](const std::function<void()>& pause) { search(batch, pause); });
  });
}

}  // namespace tessera::seq2seq
