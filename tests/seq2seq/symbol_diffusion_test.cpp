// Text models of kind "symbols": masks or other symbols in place of noise on points.

#include "nn/adamw.h"
#include "seq2seq/generator.h"
#include "seq2seq/model_folder.h"
#include "seq2seq/tiny_model.h"
#include "support/temporary_folder.h"

#include <tessera/base/error.h>

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace tessera::seq2seq {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;
using text::Dictionary;
using text::Id;

Seq2SeqOptions symbol_options(SymbolNoise noise, SymbolTarget target = SymbolTarget::bound) {
  Seq2SeqOptions options = test::tiny_options();
  options.kind = ModelKind::symbols;
  options.self_conditioning = 0;
  options.symbols.process.noise = noise;
  options.symbols.objective.target = target;
  return options;
}

std::unique_ptr<Seq2Seq> make(const Seq2SeqOptions& options) {
  return make_seq2seq(options, test::tiny_dictionary().size(),
                      {Dictionary::kBos, Dictionary::kPad, Dictionary::kUnk}, at::kCPU,
                      nn::Precision::float32, uint64_t{3});
}

std::vector<std::vector<Id>> sources() {
  std::vector<std::vector<Id>> all;
  for (Id k = 0; k < 6; ++k) all.push_back(test::tiny_source(3 + k, k));
  return all;
}

GenerationOptions generation() {
  GenerationOptions options = test::tiny_generation();
  options.sampler.steps = 4;
  return options;
}

TEST(SymbolDiffusion, WritesSymbolsThatCanBeWritten) {
  for (const SymbolNoise noise : {SymbolNoise::absorbing, SymbolNoise::uniform}) {
    const auto model = make(symbol_options(noise));
    for (const Generated& result : Generator(*model, generation()).generate(sources())) {
      EXPECT_LE(result.nfe, 4);
      for (const Candidate& candidate : result.candidates)
        for (const Id id : candidate.ids) {
          EXPECT_GE(id, 4);
          EXPECT_LT(id, test::tiny_dictionary().size());
        }
    }
  }
}

TEST(SymbolDiffusion, WritesTheSameTextInAnyCompany) {
  for (const SymbolNoise noise : {SymbolNoise::absorbing, SymbolNoise::uniform}) {
    const auto model = make(symbol_options(noise));
    const Generator generator(*model, generation());
    const auto all = generator.generate(sources());
    for (size_t k = 0; k < all.size(); ++k) {
      const std::vector<std::vector<Id>> one{sources()[k]};
      const auto alone = generator.generate(one);
      EXPECT_EQ(alone.front().ids(), all[k].ids());
    }
  }
}

// If texts shared their draws, an unlikely draw would spoil the same position of all texts.
TEST(SymbolDiffusion, DrawsDifferBetweenTexts) {
  const auto model = make(symbol_options(SymbolNoise::absorbing));
  std::vector<std::vector<Id>> texts;
  for (Id k = 0; k < 8; ++k) texts.push_back({4 + k, Dictionary::kEos});
  GenerationOptions options = generation();
  options.length = LengthRule{false, 9};
  options.sampler.symbols.temperature = 1000;  // what is drawn depends on the draws alone
  std::set<std::vector<Id>> written;
  for (const Generated& result : Generator(*model, options).generate(texts))
    written.insert(result.candidates.front().ids);
  EXPECT_GT(written.size(), 6u);
}

TEST(SymbolDiffusion, ScoresCandidatesByTheChoicesMade) {
  const auto model = make(symbol_options(SymbolNoise::absorbing));
  for (const Generated& result : Generator(*model, generation()).generate(sources()))
    for (const Candidate& candidate : result.candidates) {
      EXPECT_LT(candidate.confidence, 0);
      EXPECT_GT(candidate.confidence, -20);
    }
}

TEST(SymbolDiffusion, LearnsToCopy) {
  for (const auto& [noise, target] :
       {std::pair(SymbolNoise::absorbing, SymbolTarget::bound),
        std::pair(SymbolNoise::absorbing, SymbolTarget::score_entropy),
        std::pair(SymbolNoise::uniform, SymbolTarget::bound)}) {
    SCOPED_TRACE(std::string(name_of(noise)) + ", " + std::string(name_of(target)));
    const auto model = make(symbol_options(noise, target));
    const std::vector<int64_t> ids{4, 5, 6, 7, Dictionary::kEos, 8, 9, 4, 6, Dictionary::kEos};
    const at::Tensor both = at::tensor(ids).view({2, 5});
    const Seq2SeqBatch batch{both, both};
    at::Tensor values = model->parameters().values().detach().requires_grad_();
    values.mutable_grad() = model->parameters().gradients();
    nn::AdamW adamw({values}, {.weight_decay = 0});
    const auto loss = [&](uint64_t step) {
      const Draws draws = model->draw(
          {{1, Purpose::training_noise, step}, {1, Purpose::training_time, step}}, 2, 5);
      return model->loss(batch, draws, 0, nn::Mode::training).total;
    };
    const auto mean_of = [&](uint64_t first) {
      double sum = 0;
      for (uint64_t step = first; step < first + 20; ++step) sum += loss(step).item<double>();
      return sum / 20;
    };
    const double before = mean_of(1000);
    for (uint64_t step = 0; step < 200; ++step) {
      loss(step).backward();
      model->parameters().gather_gradients();
      adamw.step(5e-3);
      model->parameters().zero_gradients();
    }
    EXPECT_LT(mean_of(1000), 0.7 * before);
  }
}

TEST(SymbolDiffusion, IsTheSameFromItsFolder) {
  const test::TemporaryFolder folder;
  const auto model = make(symbol_options(SymbolNoise::uniform));
  write_model_folder(folder.path() / "model", *model, model->parameters().values(),
                     test::tiny_tokenizer(), generation(), {});
  const LoadedModel loaded = load_model_folder(folder.path() / "model", at::kCPU);
  EXPECT_EQ(loaded.model->options().kind, ModelKind::symbols);
  EXPECT_EQ(loaded.model->options().symbols.process.noise, SymbolNoise::uniform);
  const auto before = Generator(*model, generation()).generate(sources());
  const auto after = Generator(*loaded.model, loaded.generation).generate(sources());
  for (size_t k = 0; k < before.size(); ++k) EXPECT_EQ(after[k].ids(), before[k].ids());
}

TEST(SymbolDiffusion, RefusesASamplerThatDoesNotFit) {
  const auto model = make(symbol_options(SymbolNoise::absorbing));
  GenerationOptions options = generation();
  options.sampler.steps = 1001;
  EXPECT_THAT([&] { model->check(options); }, ThrowsMessage<UsageError>(HasSubstr("horizon")));
  options = generation();
  options.sampler.symbols.predictor = Predictor::tau_leaping;
  EXPECT_THAT([&] { model->check(options); }, ThrowsMessage<UsageError>(HasSubstr("tau-leaping")));
}

TEST(SymbolDiffusion, RefusesAnObjectiveThatDoesNotFit) {
  EXPECT_THAT([] { make(symbol_options(SymbolNoise::absorbing, SymbolTarget::ratio_matching)); },
              ThrowsMessage<UsageError>(HasSubstr("ratio-matching")));
}

}  // namespace
}  // namespace tessera::seq2seq
