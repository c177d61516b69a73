#include "files/weight_average.h"

#include "files/files.h"
#include "files/model_files.h"
#include "seq2seq/tiny_model.h"
#include "support/complaint.h"
#include "support/temporary_folder.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

namespace tessera::seq2seq {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class WeightAverage : public testing::Test {
 protected:
  fs::path write(const std::string& name, const Diffusion& model,
                 const text::Tokenizer& tokenizer = test::tiny_tokenizer()) const {
    write_model_folder(parent_ / name, model, model.parameters().values(), tokenizer,
                       test::tiny_generation(), {});
    return parent_ / name;
  }
  static Diffusion model_with(const Seq2SeqOptions& options, std::vector<int64_t> undecodable) {
    return Diffusion(options, test::tiny_dictionary().size(), std::move(undecodable), at::kCPU,
                     nn::Precision::float32, 4);
  }
  std::string refusal(const fs::path& a, const fs::path& b) const {
    const std::string said = test::complaint([&] { average_models({a, b}, parent_ / "mean"); });
    EXPECT_FALSE(fs::exists(parent_ / "mean"));
    return said;
  }

  test::TemporaryFolder parent_;
  fs::path out_ = parent_ / "mean";
};

TEST_F(WeightAverage, OfAModelAndItselfHasItsBytes) {
  const fs::path model = write("model", test::tiny_model());
  average_models({model, model, model}, out_);
  for (const char* file : {"model.safetensors", "config.json", "dict.txt", "tokenizer.json"})
    EXPECT_EQ(read_file(out_ / file), read_file(model / file)) << file;
  EXPECT_THAT(read_file(out_ / "README.md"), HasSubstr("| averaged | model, model, model |"));
}

TEST_F(WeightAverage, NeedsNoCard) {
  const fs::path model = write("model", test::tiny_model());
  fs::remove(model / "README.md");
  average_models({model, model}, out_);
  EXPECT_THAT(read_file(out_ / "README.md"), HasSubstr("| averaged | model, model |"));
}

TEST_F(WeightAverage, OfTwoIsTheMean) {
  const Diffusion a = test::tiny_model(1), b = test::tiny_model(2);
  average_models({write("a", a), write("b", b)}, out_);
  const LoadedModel mean = load_model_folder(out_, at::kCPU);
  const at::Tensor expected =
      (a.parameters().values().to(at::kDouble) + b.parameters().values()).div(2).to(at::kFloat);
  EXPECT_TRUE(at::equal(mean.model->parameters().values(), expected));
  EXPECT_FALSE(at::equal(expected, a.parameters().values()));
}

TEST_F(WeightAverage, RefusesModelsThatAreNotAlike) {
  const fs::path plain = write("plain", test::tiny_model());
  Seq2SeqOptions wide = test::tiny_options();
  wide.network.transformer.width = 32;
  EXPECT_THAT(refusal(plain, write("wide", model_with(wide, {0, 1, 3}))),
              HasSubstr("they differ in model.width"));
  Seq2SeqOptions other = test::tiny_options();
  other.process.r = 0.5;
  EXPECT_THAT(refusal(plain, write("other", model_with(other, {0, 1, 3}))),
              HasSubstr("they differ in process.r"));
  EXPECT_THAT(refusal(plain, write("symbols", model_with(test::tiny_options(), {0, 1, 3, 9}))),
              HasSubstr("they differ in undecodable"));
  text::Dictionary words;
  for (int64_t k = 0; k < 26; ++k) words.add("w" + std::to_string(k), 100);
  EXPECT_THAT(
      refusal(plain, write("words", test::tiny_model(), text::Tokenizer::words(words, false))),
      HasSubstr("dict.txt differ"));
}

TEST_F(WeightAverage, RefusesModelsOfDifferentState) {
  Seq2SeqOptions options = test::tiny_options();
  options.process.r = 0;
  options.adaptive.stride = 5;  // a schedule of noise is made in training, beside the weights
  const fs::path one = write("one", model_with(options, {0, 1, 3})),
                 other = write("other", model_with(options, {0, 1, 3}));
  average_models({one, other}, out_);
  EXPECT_EQ(read_file(out_ / kModelStateFile), read_file(one / kModelStateFile));
  remove_tree(out_);

  auto state = safetensors::File(other / kModelStateFile).tensors();
  state["schedule.times"] = state["schedule.times"] / 2;
  safetensors::save(other / kModelStateFile, {state.begin(), state.end()});
  EXPECT_THAT(refusal(one, other), HasSubstr("state.safetensors differ"));
  fs::remove(other / kModelStateFile);
  EXPECT_THAT(refusal(one, other), HasSubstr("state.safetensors differ"));
}

TEST_F(WeightAverage, LeavesWhatIsThereAlone) {
  const fs::path model = write("model", test::tiny_model());
  fs::create_directory(out_);
  EXPECT_THAT(test::complaint([&] { average_models({model}, out_); }), HasSubstr("exists already"));
  EXPECT_TRUE(fs::is_empty(out_));
  EXPECT_THAT(test::complaint([&] {
                average_models({model, parent_ / "nowhere"}, parent_ / "new");
              }),
              HasSubstr("nowhere"));
  EXPECT_FALSE(fs::exists(parent_ / "new"));
  average_models({model}, parent_ / "new/");
  EXPECT_TRUE(is_model_folder(parent_ / "new"));
}

}  // namespace
}  // namespace tessera::seq2seq
