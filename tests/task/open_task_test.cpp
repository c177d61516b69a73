#include "task/open_task.h"

#include "corpus/date_pairs.h"
#include "image/dataset_writer.h"
#include "support/complaint.h"
#include "support/temporary_folder.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

namespace tessera::task {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;

// Changes a file's last byte, but not its size.
void damage(const fs::path& path) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekg(-1, std::ios::end);
  const int last = file.get();
  file.seekp(-1, std::ios::end);
  file.put(static_cast<char>(last ^ 1));
}

std::string complaint_about(const Recipe& recipe) {
  return test::complaint([&] { open_task(recipe, "", OwnData::keep, at::kCPU); });
}

TEST(OpenTask, TrainsOnNoCorpusWhoseFilesHaveChanged) {
  const test::TemporaryFolder folder(test::quick_place());
  corpus::make_date_corpus(folder / "dates", 1, 50);
  Recipe recipe(Domain::text);
  recipe.text.data.dir = folder / "dates";
  recipe.text.data.source = TextSource::none;
  damage(folder / "dates/train.src.ids");
  EXPECT_THAT(complaint_about(recipe),
              AllOf(HasSubstr("'train.src.ids' has changed"), HasSubstr("tessera prepare")));
}

TEST(OpenTask, TrainsOnNoImagesThatHaveChanged) {
  const test::TemporaryFolder folder(test::quick_place());
  image::DatasetWriter writer(folder / "set", {});
  const at::Tensor images = at::zeros({4, 1, 8, 8}, at::kByte);
  writer.add_split("train", image::TensorImages(images), at::Tensor(), 0, 3);
  writer.add_split("valid", image::TensorImages(images), at::Tensor(), 3, 4);
  writer.commit({});
  Recipe recipe(Domain::images);
  recipe.image.data.dir = folder / "set";
  damage(folder / "set/train.safetensors");
  EXPECT_THAT(complaint_about(recipe), HasSubstr("'train.safetensors' has changed"));
}

}  // namespace
}  // namespace tessera::task
