#include "seq2seq/reranker.h"

#include "base/require.h"
#include "seq2seq/model_folder.h"
#include "seq2seq/scorer.h"

#include <fmt/format.h>

namespace tessera::seq2seq {

Reranker::Reranker(const std::filesystem::path& run_or_model, const text::Dictionary& dictionary,
                   at::Device device, nn::Precision precision) {
  const std::filesystem::path folder = find_model_folder(run_or_model);
  LoadedModel loaded = load_model_folder(folder, device, precision);
  require_probabilities(*loaded.model, folder);
  judge_ = std::move(loaded.model);
  if (const auto difference = dictionary.difference(loaded.tokenizer.dictionary()))
    throw Error(fmt::format("the model in '{}' cannot judge candidates of this one: {}",
                            folder.string(), *difference),
                "both must be trained on corpora with one dictionary (`tessera prepare --dict`)");
}

void Reranker::choose(std::span<const SourceSentence> sentences, std::span<Generated> results,
                      int64_t batch_tokens) const {
  const int64_t positions = judge_->options().network.positions;
  std::vector<SourceSentence> sources(sentences.begin(), sentences.end());
  for (SourceSentence& source : sources) source.shorten_to(positions);
  ScoringTask task{sources, {}};
  const auto longest = static_cast<size_t>(positions - 1);
  for (const SourceSentence& sentence : sentences) {
    auto& targets = task.targets.emplace_back();
    for (const Candidate& candidate : results[sentence.index].candidates) {
      const std::span<const text::Id> ids(candidate.ids);
      targets.push_back(ids.first(std::min(ids.size(), longest)));
    }
  }
  const auto scores = score_targets(*judge_, task, batch_tokens);
  for (size_t k = 0; k < sentences.size(); ++k) {
    Generated& result = results[sentences[k].index];
    for (size_t c = 0; c < result.candidates.size(); ++c)
      result.candidates[c].rerank_score = scores[k][c].mean();
    result.chosen = seq2seq::choose(result.candidates, Selection::rerank);
  }
}

}  // namespace tessera::seq2seq
