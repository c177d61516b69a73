#include "image_metric/statistics.h"
#include "image_metric/tiny_extractor.h"
#include "support/program.h"
#include "support/tensors.h"

#include <tessera/files/safetensors.h>

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <string>

namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class FidCommand : public tessera::test::ProgramTest {
 protected:
  FidCommand() {
    write_images("a.npy", 120, 200, 1);
    write_images("b.npy", 80, 256, 2);
    tessera::test::write_tiny_extractor(folder_ / "tiny.pt");
    tessera::test::write_tiny_extractor(folder_ / "inception-tiny.pt");
  }

  // NumPy's format: [count, 4, 5, 3] uint8 below `bound`.
  void write_images(const std::string& name, int64_t count, int64_t bound, uint64_t seed) const {
    std::string header =
        fmt::format("{{'descr': '|u1', 'fortran_order': False, 'shape': ({}, 4, 5, 3), }}", count);
    header.resize(117, ' ');
    header += '\n';
    const at::Tensor pixels =
        tessera::test::labels({count, 4, 5, 3}, bound, seed).to(at::kByte).contiguous();
    write(name, std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(header.size()) + '\0' +
                    header +
                    std::string(static_cast<const char*>(pixels.const_data_ptr()), pixels.numel()));
  }
  nlohmann::json json(const std::string& arguments) const {
    const auto result = run("--device cpu --json fid " + arguments);
    EXPECT_EQ(result.status, 0) << result.err;
    return nlohmann::json::parse(result.out, nullptr, false);
  }
};

TEST_F(FidCommand, MeasuresTwoSetsOfImages) {
  const auto result = run("--device cpu fid a.npy b.npy --features tiny.pt");
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(result.err, "");
  EXPECT_THAT(result.out, AllOf(StartsWith("FD-tiny "), HasSubstr("9 features of tiny.pt "),
                                HasSubstr("120 images: a.npy\n"), HasSubstr("80 images: b.npy\n"),
                                Not(HasSubstr("FID"))));
  const auto report = json("a.npy b.npy --features tiny.pt --batch 7");
  EXPECT_EQ(report["name"], "FD-tiny");
  EXPECT_GT(report["distance"], 100);
  EXPECT_THAT(result.out, HasSubstr(report["extractor_hash"].get<std::string>()));
  EXPECT_EQ(report["a"]["images"], 120);
  EXPECT_FALSE(report.contains("kernel"));
  EXPECT_NEAR(json("a.npy b.npy --features tiny.pt")["distance"], report["distance"], 1e-6)
      << "whatever the batches";
}

TEST_F(FidCommand, FindsASetEqualToItself) {
  EXPECT_NEAR(json("a.npy a.npy --features tiny.pt")["distance"], 0, 1e-8);
}

TEST_F(FidCommand, SaysFidOfInceptionOnly) {
  const auto result = run("--device cpu fid a.npy b.npy --features inception-tiny.pt --kid");
  EXPECT_THAT(result.out, AllOf(StartsWith("FID "), HasSubstr("\nKID ")));
}

TEST_F(FidCommand, MeasuresTheKernelDistance) {
  const auto result = run("--device cpu fid a.npy b.npy --features tiny.pt --kid");
  ASSERT_EQ(result.status, 0);
  EXPECT_THAT(result.out, AllOf(HasSubstr("\nKD-tiny "), HasSubstr(" ± "),
                                HasSubstr("(100 subsets of 80 images)")));
  EXPECT_THAT(result.err, HasSubstr("subsets of 80 images, not 1000"));
  const auto kernel = json("a.npy b.npy --features tiny.pt --kid")["kernel"];
  EXPECT_GT(kernel["distance"], 0);
  EXPECT_EQ(kernel["subset_size"], 80);
}

TEST_F(FidCommand, WarnsOfTooFewImages) {
  const auto result = run("--device cpu fid a.npy b.npy --features tiny.pt --limit 9");
  EXPECT_EQ(result.status, 0);
  EXPECT_THAT(result.err, AllOf(HasSubstr("'a.npy' has 9 samples for 9 features"),
                                HasSubstr("'b.npy' has 9 samples")));
  EXPECT_THAT(result.out, HasSubstr("9 images: b.npy"));
}

TEST_F(FidCommand, TakesStatisticsInPlaceOfImages) {
  const auto images = json("a.npy b.npy --features tiny.pt --save a.safetensors");
  const auto mixed = json("a.safetensors b.npy --features tiny.pt");
  EXPECT_EQ(mixed["distance"], images["distance"]);
  EXPECT_EQ(mixed["a"]["source"], "120 images of a.npy");

  json("b.npy a.npy --features tiny.pt --save b.safetensors");
  const auto statistics = json("a.safetensors b.safetensors");
  EXPECT_EQ(statistics["distance"], images["distance"]);
  EXPECT_EQ(statistics["name"], "FD-tiny");
  EXPECT_EQ(statistics["extractor_hash"], images["extractor_hash"]);
}

TEST_F(FidCommand, ChoosesTheSetsOfAStatisticsFile) {
  json("a.npy b.npy --features tiny.pt --save a.safetensors");
  const auto set = tessera::image_metric::load_statistics(folder_ / "a.safetensors");
  const at::Tensor count = at::full({1}, 50, at::kLong);
  tessera::safetensors::save(folder_ / "both.safetensors",
                             {{"mu_train", set.gaussian.mean},
                              {"sigma_train", set.gaussian.covariance},
                              {"n_train", count},
                              {"mu_test", set.gaussian.mean + 1},
                              {"sigma_test", set.gaussian.covariance},
                              {"n_test", count}});
  const auto report = json("both.safetensors both.safetensors --prefix train,test");
  EXPECT_NEAR(report["distance"], 9, 1e-6);
  EXPECT_EQ(report["name"], "FD");
  EXPECT_EQ(report["b"]["prefix"], "test");
  EXPECT_NEAR(json("both.safetensors both.safetensors --prefix test")["distance"], 0, 1e-6);
  EXPECT_NEAR(json("both.safetensors a.safetensors --prefix test,")["distance"], 9, 1e-6);

  const auto warned =
      run("--device cpu fid both.safetensors a.npy --features tiny.pt --prefix train");
  EXPECT_EQ(warned.status, 0);
  EXPECT_THAT(warned.err, HasSubstr("does not say which extractor"));
  const auto unsaid = run("--device cpu fid both.safetensors a.safetensors");
  EXPECT_EQ(unsaid.status, 1);
  EXPECT_THAT(unsaid.err, HasSubstr("choose one with --prefix: test, train"));
}

TEST_F(FidCommand, RefusesStatisticsOfAnotherExtractor) {
  json("a.npy b.npy --features tiny.pt --save a.safetensors");
  tessera::test::write_torch_script(folder_ / "other.pt",
                                    "def forward(self, x):\n    return x.flatten(1)[:, :9]\n");
  const auto result = run("--device cpu fid a.safetensors b.npy --features other.pt");
  EXPECT_EQ(result.status, 1);
  EXPECT_THAT(result.err, AllOf(HasSubstr("come from different extractors"), HasSubstr("hint: ")));
}

TEST_F(FidCommand, TellsWrongUsageFromBrokenFiles) {
  json("a.npy b.npy --features tiny.pt --save a.safetensors");
  const auto status = [&](const std::string& arguments, const std::string& said) {
    const auto result = run("--device cpu fid " + arguments);
    EXPECT_THAT(result.err, HasSubstr(said)) << arguments;
    EXPECT_EQ(result.out, "") << arguments;
    return result.status;
  };
  EXPECT_EQ(status("a.npy", "b is required"), 2);
  EXPECT_EQ(status("a.npy b.npy", "--features is missing"), 2);
  EXPECT_EQ(status("a.safetensors b.npy --features tiny.pt --kid", "--kid needs the images"), 2);
  EXPECT_EQ(status("a.safetensors b.npy --features tiny.pt --save c", "such a file already"), 2);
  EXPECT_EQ(status("a.npy b.npy --features tiny.pt --prefix a,b,c", "--prefix"), 2);
  EXPECT_EQ(status("a.npy b.npy --features tiny.pt --batch 0", "--batch"), 2);
  EXPECT_EQ(status("a.npy b.npy --features none.pt", "there is no file 'none.pt'"), 1);
  EXPECT_EQ(status("a.npy none.npy --features tiny.pt", "none.npy"), 1);
  EXPECT_EQ(status("none.safetensors b.npy --features tiny.pt", "none.safetensors"), 1);
  EXPECT_EQ(status("a.npy b.npy --features a.npy", "is no TorchScript file"), 1);
}

}  // namespace
