#include "image_metric/extractor.h"

#include "files/files.h"
#include "files/hash.h"
#include "image_metric/tiny_extractor.h"
#include "support/complaint.h"
#include "support/temporary_folder.h"
#include "support/tensors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace tessera::image_metric {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class ExtractorTest : public testing::Test {
 protected:
  std::filesystem::path scripted(const std::string& source) const {
    test::write_torch_script(file_, source);
    return file_;
  }
  std::string complaint(const std::string& source) const {
    const Extractor extractor(scripted(source));
    return test::complaint([&] { extractor.features(images_); });
  }

  test::TemporaryFolder folder_;
  const std::filesystem::path file_ = folder_ / "tiny.pt";
  const at::Tensor images_ = test::labels({5, 3, 8, 6}, 256, 1).to(at::kByte);
};

TEST_F(ExtractorTest, TurnsImagesIntoVectors) {
  test::write_tiny_extractor(file_);
  const Extractor extractor(file_);
  const at::Tensor features = extractor.features(images_);
  ASSERT_EQ(features.sizes(), at::IntArrayRef({5, 9}));
  EXPECT_EQ(features.scalar_type(), at::kFloat);
  EXPECT_LT(test::largest_difference(features.slice(1, 0, 3),
                                     images_.to(at::kDouble).mean(at::IntArrayRef{2, 3})),
            1e-4)
      << "the images are given as 0 to 255";
  EXPECT_EQ(extractor.file_name(), "tiny.pt");
  EXPECT_EQ(extractor.hash(), file_hash(file_));
  EXPECT_EQ(extractor.short_hash(), extractor.hash().substr(0, 16));
}

TEST_F(ExtractorTest, ComputesInHalfPrecision) {
  const Extractor extractor(scripted("def forward(self, x):\n    return x.flatten(1) / 3\n"),
                            at::kCPU, at::kHalf);
  const at::Tensor features = extractor.features(images_);
  EXPECT_EQ(features.scalar_type(), at::kFloat);
  const double difference = test::largest_difference(features, images_.flatten(1) / 3.0);
  EXPECT_GT(difference, 0);
  EXPECT_LT(difference, 0.05);
}

TEST_F(ExtractorTest, TellsClassesWhereItCan) {
  test::write_tiny_extractor(file_);
  const Extractor extractor(file_);
  ASSERT_TRUE(extractor.has_logits());
  EXPECT_EQ(extractor.logits(images_).sizes(), at::IntArrayRef({5, 3}));
  EXPECT_LT(test::largest_difference(extractor.class_probabilities(images_).sum(1), at::ones({5})),
            1e-6);

  const Extractor plain(scripted("def forward(self, x):\n    return x.flatten(1)\n"));
  EXPECT_FALSE(plain.has_logits());
  EXPECT_THAT(test::complaint([&] { plain.logits(images_); }), HasSubstr("has no method 'logits'"));
}

// Without return_features such a network gives class probabilities, and distances between those
// look plausible, too.
TEST_F(ExtractorTest, AsksForFeaturesWhereANetworkMustBeAsked) {
  const Extractor extractor(scripted(R"(
def forward(self, x, return_features: bool = False):
    if return_features:
        return x.flatten(1)
    return x.mean([2, 3])
)"));
  EXPECT_EQ(extractor.features(images_).sizes(), at::IntArrayRef({5, 3 * 8 * 6}));
}

TEST_F(ExtractorTest, NamesAFileThatIsMissing) {
  EXPECT_THAT(test::complaint([&] { Extractor(folder_ / "none.pt"); }),
              AllOf(HasSubstr("there is no file"), HasSubstr("none.pt"), HasSubstr("TorchScript")));
}

TEST_F(ExtractorTest, NamesAFileThatIsNoTorchScript) {
  write_file_atomically(file_, "some text that is no archive");
  const std::string said = test::complaint([&] { Extractor{file_}; });
  EXPECT_THAT(said, AllOf(HasSubstr("tiny.pt' is no TorchScript file"), HasSubstr("torch.jit")));
  EXPECT_LT(said.size(), 600u) << said;
  EXPECT_THAT(said, testing::Not(HasSubstr("PytorchStreamReader")));
  scripted("def other(self, x):\n    return x\n");
  EXPECT_THAT(test::complaint([&] { Extractor{file_}; }), HasSubstr("no method 'forward'"));
}

TEST_F(ExtractorTest, TellsWhichShapeWasRefusedAndWhy) {
  const std::string said =
      complaint("def forward(self, x):\n    return torch.mm(x.flatten(1), torch.ones(7, 2))\n");
  EXPECT_THAT(said, AllOf(HasSubstr("'tiny.pt' fails on images of shape [5, 3, 8, 6]"),
                          HasSubstr("mat1 and mat2 shapes cannot be multiplied (5x144 and 7x2)")));
  EXPECT_LT(said.size(), 600u) << said;
}

TEST_F(ExtractorTest, RefusesWhatAreNoVectors) {
  EXPECT_THAT(complaint("def forward(self, x):\n    return x\n"),
              HasSubstr("turns 5 images into Float [5, 3, 8, 6], not into [5, D]"));
  EXPECT_THAT(complaint("def forward(self, x):\n    return x.flatten(1).sum(0, keepdim=True)\n"),
              HasSubstr("into Float [1, 144]"));
  EXPECT_THAT(complaint("def forward(self, x):\n    return x.flatten(1).long()\n"),
              HasSubstr("into Long [5, 144]"));
  EXPECT_THAT(complaint("def forward(self, x):\n    return (x.flatten(1), x)\n"),
              HasSubstr("into a Tuple"));
}

TEST_F(ExtractorTest, RefusesNotANumber) {
  EXPECT_THAT(complaint("def forward(self, x):\n    return x.flatten(1) * 0 / 0\n"),
              AllOf(HasSubstr("'tiny.pt'"), HasSubstr("NaN")));
}

TEST_F(ExtractorTest, RefusesWhatAreNoImages) {
  test::write_tiny_extractor(file_);
  const Extractor extractor(file_);
  EXPECT_THAT(test::complaint([&] { extractor.features(images_.to(at::kFloat)); }),
              HasSubstr("images must be uint8 [N, C, H, W], got Float [5, 3, 8, 6]"));
  EXPECT_THAT(test::complaint([&] { extractor.features(images_[0]); }), HasSubstr("[3, 8, 6]"));
}

}  // namespace
}  // namespace tessera::image_metric
