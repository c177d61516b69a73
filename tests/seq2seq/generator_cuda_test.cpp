// Part of test_cuda.

#include "seq2seq/generator.h"
#include "seq2seq/tiny_model.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace tessera::seq2seq {
namespace {

// A hook that watches the steps keeps generation of a diffusion model in one thread.
TEST(CudaGenerator, TwoThreadsWriteWhatOneWrites) {
  using text::Dictionary;
  const Diffusion model(test::tiny_options(), test::tiny_dictionary().size(),
                        {Dictionary::kBos, Dictionary::kPad, Dictionary::kUnk},
                        at::Device(at::kCUDA, 0), nn::Precision::bfloat16, 3);
  GenerationOptions options = test::tiny_generation();
  options.batch_tokens = 64;  // many batches
  std::vector<std::vector<text::Id>> sources;
  for (text::Id k = 0; k < 60; ++k) sources.push_back(test::tiny_source(3 + k % 13, k));
  const Generator generator(model, options);
  GenerateHooks watched;
  watched.step = [](const auto&) {};
  const auto one = generator.generate(sources, watched);
  for (int again = 0; again < 3; ++again) {
    const auto two = generator.generate(sources);
    for (size_t k = 0; k < sources.size(); ++k) EXPECT_EQ(two[k].best().ids, one[k].best().ids);
  }
}

TEST(CudaGenerator, TwoModelsInTwoThreadsWriteWhatEachWritesAlone) {
  using text::Dictionary;
  const auto write = [](uint64_t seed) {
    const Diffusion model(test::tiny_options(), test::tiny_dictionary().size(),
                          {Dictionary::kBos, Dictionary::kPad, Dictionary::kUnk},
                          at::Device(at::kCUDA, 0), nn::Precision::bfloat16, seed);
    std::vector<std::vector<text::Id>> sources, written;
    for (text::Id k = 0; k < 20; ++k) sources.push_back(test::tiny_source(3 + k % 13, k));
    for (const auto& each : Generator(model, test::tiny_generation()).generate(sources))
      written.push_back(each.best().ids);
    return written;
  };
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (const uint64_t seed : {3, 4})
    threads.emplace_back([&, seed, alone = write(seed)] {
      for (int round = 0; round < 5; ++round) wrong += write(seed) != alone;
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace tessera::seq2seq
