#pragma once

#include "engine/option_list.h"
#include "seq2seq/generator.h"
#include "seq2seq/model_folder.h"
#include "seq2seq/reranker.h"

#include <tessera/engine/load_options.h>
#include <tessera/engine/text_request.h>

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

namespace tessera::engine {

// An Engine of a model of text.
class TextEngine {
 public:
  TextEngine(const std::filesystem::path& model_folder, const LoadOptions& options,
             at::Device device);

  const seq2seq::Seq2Seq& model() const { return *loaded_.model; }
  const text::Tokenizer& tokenizer() const { return loaded_.tokenizer; }

  std::vector<TextResult> run(std::span<const TextRequest> requests,
                              const std::function<void(int64_t more)>& progress) const;

  // Throws UsageError for options that make no sense; `spelling` is how the message names them.
  GenerateOptions in_effect(const GenerateOptions& changes,
                            Spelling spelling = Spelling::field) const;

  // The options of generation in effect, without the seed.
  seq2seq::GenerationOptions resolved(const GenerateOptions& changes,
                                      Spelling spelling = Spelling::field) const;

  std::vector<text::Id> symbols_of(std::string_view text) const;

 private:
  struct Group;
  struct Call;

  // The model of a selection "rerank..."; null for others.
  const seq2seq::Reranker* reranker_of(const GenerateOptions& options) const;
  std::vector<text::Id> source_of(const TextRequest& request, size_t place) const;
  void run_group(const Group& group, const Call& call) const;
  TextResult result_of(const seq2seq::Generated& generated, const Group& group,
                       bool candidate_texts) const;

  seq2seq::LoadedModel loaded_;
  std::filesystem::path usual_reranker_;  // empty: none
  mutable std::mutex mutex_;              // guards what follows
  mutable std::map<std::filesystem::path, std::unique_ptr<const seq2seq::Reranker>> rerankers_;
};

}  // namespace tessera::engine
