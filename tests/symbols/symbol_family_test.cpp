#include <tessera/symbols/symbol_family.h>

#include <tessera/base/error.h>
#include <tessera/codebook/embedding_table.h>

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tessera {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

// Symbols 0 (a mask) and 5 cannot be decoded.
constexpr int64_t kMask = 0;

class SymbolFamilyTest : public testing::Test {
 protected:
  static EmbeddingTable make_table() {
    at::manual_seed(3);
    return EmbeddingTable(at::randn({8, 6}), {.undecodable = {kMask, 5}});
  }

  Draws draws(const SymbolFamily& family, int64_t rows, int64_t length) const {
    const StreamId noise{1, Purpose::training_noise, 4}, time{1, Purpose::training_time, 4};
    return family.draw({noise, time}, at::arange(rows, at::kLong), {length});
  }

  const EmbeddingTable table_ = make_table();
  // 5 is padding here.
  const at::Tensor labels_ = at::tensor({1, 2, 3, 4, 6, 7, 1, 5}, at::kLong).view({2, 4});
};

TEST_F(SymbolFamilyTest, ShowsCodesOfMasksAndOfSymbols) {
  const SymbolFamily family(table_, {}, kMask);
  const Draws drawn = draws(family, 2, 4);
  const at::Tensor seen = family.corrupt(labels_, drawn).input;
  const at::Tensor codes = table_.codes();
  int64_t masks = 0;
  for (int64_t row = 0; row < 2; ++row)
    for (int64_t place = 0; place < 4; ++place) {
      const bool masked = at::equal(seen[row][place], codes[kMask]);
      masks += masked;
      if (masked) continue;
      EXPECT_TRUE(at::equal(seen[row][place], codes[labels_[row][place].item<int64_t>()]));
    }
  EXPECT_GT(masks, 0);
  EXPECT_TRUE(at::equal(seen[1][3], codes[5])) << "padding is not covered";
}

TEST_F(SymbolFamilyTest, NoiseIsAFunctionOfTheSample) {
  for (const SymbolNoise noise : {SymbolNoise::absorbing, SymbolNoise::uniform}) {
    SymbolFamilyOptions options;
    options.process.noise = noise;
    options.process.low_discrepancy = false;  // low-discrepancy times depend on the batch size
    const SymbolFamily family(table_, options, kMask);
    const at::Tensor both = family.corrupt(labels_, draws(family, 2, 4)).input;
    const at::Tensor first = family.corrupt(labels_.narrow(0, 0, 1), draws(family, 1, 4)).input;
    EXPECT_TRUE(at::equal(both[0], first[0]));
  }
}

TEST_F(SymbolFamilyTest, LossFallsTowardsTheTruth) {
  for (const SymbolNoise noise : {SymbolNoise::absorbing, SymbolNoise::uniform}) {
    SymbolFamilyOptions options;
    options.process.noise = noise;
    const SymbolFamily family(table_, options, kMask);
    const Corrupted corrupted = family.corrupt(labels_, draws(family, 2, 4));
    const at::Tensor mask = labels_.ne(5);
    const auto loss = [&](double length) {
      const at::Tensor output = table_.encode(labels_) * length;
      const FamilyLoss found = family.loss(corrupted, output, labels_, mask);
      EXPECT_EQ(found.measures.numel(), std::ssize(family.measures()));
      return found.total.item<double>();
    };
    EXPECT_GT(loss(0), loss(0.5));
    EXPECT_GT(loss(0.5), loss(2));
    EXPECT_NEAR(loss(20), 0, 1e-3);
  }
}

TEST_F(SymbolFamilyTest, GradientsReachTheEstimate) {
  for (const SymbolTarget target : {SymbolTarget::bound, SymbolTarget::cross_entropy,
                                    SymbolTarget::score_entropy, SymbolTarget::ratio_matching})
    for (const SymbolNoise noise : {SymbolNoise::absorbing, SymbolNoise::uniform}) {
      if (target == SymbolTarget::ratio_matching && noise == SymbolNoise::absorbing) continue;
      SymbolFamilyOptions options;
      options.process.noise = noise;
      options.objective.target = target;
      const SymbolFamily family(table_, options, kMask);
      const Corrupted corrupted = family.corrupt(labels_, draws(family, 2, 4));
      const at::Tensor output = at::randn({2, 4, 6}).requires_grad_();
      family.loss(corrupted, output, labels_, labels_.ne(5)).total.backward();
      EXPECT_TRUE(output.grad().isfinite().all().item<bool>());
      EXPECT_GT(output.grad().abs().sum().item<double>(), 0);
      EXPECT_EQ(output.grad()[1][3].abs().sum().item<double>(), 0) << "padding was taught";
    }
}

TEST_F(SymbolFamilyTest, ReversesWithANetworkThatKnowsTheSymbols) {
  for (const SymbolNoise noise : {SymbolNoise::absorbing, SymbolNoise::uniform}) {
    SymbolFamilyOptions options;
    options.process.noise = noise;
    const SymbolFamily family(table_, options, kMask);
    const at::Tensor truth = labels_.narrow(0, 0, 1);
    int64_t masked = 0;
    const Denoiser knowing = [&](const at::Tensor&, const at::Tensor&, const at::Tensor&) {
      return table_.encode(truth) * 20;
    };
    const Sample sample = family.reverse(knowing, at::zeros({1}, at::kLong), {4}, {.steps = 5},
                                         [&](const SampleStep& step) {
                                           masked += step.noisy.eq(kMask).sum().item<int64_t>();
                                           EXPECT_EQ(step.labels.sizes(), truth.sizes());
                                           return true;
                                         });
    EXPECT_TRUE(at::equal(sample.labels, truth));
    EXPECT_EQ(sample.log_probabilities.sizes(), truth.sizes());
    EXPECT_EQ(masked > 0, noise == SymbolNoise::absorbing);
    EXPECT_LE(sample.calls, family.calls({.steps = 5}));
  }
}

TEST_F(SymbolFamilyTest, HasABoundThatPaddingHasNoPartIn) {
  const SymbolFamily family(table_, {}, kMask);
  ASSERT_TRUE(family.has_bound());
  const Corrupted corrupted = family.corrupt(labels_, draws(family, 2, 4));
  const at::Tensor bound = family.bound(corrupted, at::randn({2, 4, 6}), labels_);
  EXPECT_EQ(bound.sizes(), labels_.sizes());
  EXPECT_EQ(bound[1][3].item<double>(), 0);
  EXPECT_GT(bound.sum().item<double>(), 0);
}

TEST_F(SymbolFamilyTest, RefusesAMaskThatIsASymbol) {
  EXPECT_THAT([&] { SymbolFamily(table_, {}, 1); },
              ThrowsMessage<Error>(HasSubstr("symbol 1 cannot be the mask")));
  EXPECT_THAT([&] { SymbolFamily(table_, {}, -1); },
              ThrowsMessage<UsageError>(HasSubstr("needs a mask")));
  SymbolFamilyOptions options;
  options.process.noise = SymbolNoise::uniform;
  EXPECT_NO_THROW(SymbolFamily(table_, options, -1));
}

}  // namespace
}  // namespace tessera
