#include "seq2seq/scorer.h"

#include "base/require.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <algorithm>

namespace tessera::seq2seq {
namespace {

using text::Dictionary;

// [sentences * count, length] int64 with end symbols; rows without a target hold only the end
// symbol.
at::Tensor padded_targets(const ScoringTask& task, const GenerationBatch& batch, int64_t count) {
  const auto rows = static_cast<int64_t>(batch.sentences.size()) * count;
  at::Tensor ids = at::full({rows, batch.target}, int64_t{Dictionary::kPad}, at::kLong);
  auto* row = ids.mutable_data_ptr<int64_t>();
  for (const size_t place : batch.sentences)
    for (int64_t k = 0; k < count; ++k, row += batch.target) {
      const auto& targets = task.targets[place];
      int64_t* end = row;
      if (k < static_cast<int64_t>(targets.size()))
        end = std::copy(targets[k].begin(), targets[k].end(), row);
      *end = Dictionary::kEos;
    }
  return ids;
}

}  // namespace

std::vector<std::vector<TargetScore>> score_targets(const Seq2Seq& model, const ScoringTask& task,
                                                    int64_t batch_tokens,
                                                    const std::function<void(int64_t)>& progress) {
  require(task.sources.size() == task.targets.size(), "there are {} sources and targets of {}",
          task.sources.size(), task.targets.size());
  const c10::NoGradGuard no_grad;
  const int64_t positions = model.options().network.positions;
  size_t count = 1;
  std::vector<SentenceSize> sizes;
  for (size_t k = 0; k < task.sources.size(); ++k) {
    SentenceSize size{static_cast<int64_t>(task.sources[k].ids.size()), 1};
    for (const auto& target : task.targets[k])
      size.target = std::max(size.target, static_cast<int64_t>(target.size()) + 1);
    require(std::max(size.source, size.target) <= positions,
            "line {} is longer than the {} positions of the model that scores it",
            task.sources[k].line + 1, positions);
    count = std::max(count, task.targets[k].size());
    sizes.push_back(size);
  }
  const auto rows_each = static_cast<int64_t>(count);
  const BatchLimits limits{rows_each, batch_tokens, positions, batch_overhead(model.device())};

  std::vector<std::vector<TargetScore>> scores(task.sources.size());
  for (const GenerationBatch& batch : plan_batches(sizes, limits)) {
    const Encoded encoded = model.encode(padded_sources(task.sources, batch, model.device()));
    const at::Tensor targets = padded_targets(task, batch, rows_each).to(model.device());
    const at::Tensor found =
        model.log_probabilities(encoded, targets).to(at::kCPU, at::kDouble).contiguous();
    const double* row = found.const_data_ptr<double>();
    for (const size_t place : batch.sentences) {
      for (size_t k = 0; k < task.targets[place].size(); ++k) {
        const double* first = row + static_cast<int64_t>(k) * batch.target;
        scores[place].push_back({{first, first + task.targets[place][k].size() + 1}});
      }
      row += rows_each * batch.target;
    }
    if (progress) progress(static_cast<int64_t>(batch.sentences.size()));
  }
  return scores;
}

}  // namespace tessera::seq2seq
