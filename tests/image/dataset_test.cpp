#include "image/dataset.h"

#include "files/files.h"
#include "image/dataset_writer.h"
#include "image/made_images.h"
#include "support/complaint.h"
#include "support/temporary_folder.h"
#include "support/tensors.h"

#include <tessera/files/safetensors.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

namespace tessera::image {
namespace {

namespace fs = std::filesystem;
using test::made_images;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class DatasetFolder : public testing::Test {
 protected:
  // Three images to train on (of five), one to test with.
  void write_set(DatasetWriter::Existing existing = DatasetWriter::Existing::refuse,
                 std::vector<std::string> classes = {"cat", "dog"}) const {
    const bool labelled = !classes.empty();
    DatasetWriter writer(path_, std::move(classes), existing);
    writer.add_split("train", TensorImages(images_), labelled ? labels_ : at::Tensor(), 1, 4);
    writer.add_split("test", TensorImages(images_), labelled ? labels_ : at::Tensor(), 4, 5);
    writer.commit({{"images", "png"}});
  }

  std::string error() const {
    return test::complaint([&] { Dataset dataset(path_); });
  }

  void rewrite(const std::string& name, const std::string& bytes) const {
    test::write_bytes(path_ / name, bytes);
  }

  void replace_in_manifest(const std::string& from, const std::string& to) const {
    std::string text = read_file(path_ / "manifest.json");
    const size_t place = text.find(from);
    ASSERT_NE(place, std::string::npos) << from;
    rewrite("manifest.json", text.replace(place, from.size(), to));
  }

  // Puts other tensors into a split and adjusts the manifest to them.
  void forge_split(const safetensors::Tensors& tensors) const {
    safetensors::save(path_ / "test.safetensors", tensors);
    Manifest manifest = Manifest::load(path_);
    manifest.files["test.safetensors"].bytes = fs::file_size(path_ / "test.safetensors");
    manifest.save(path_);
  }

  test::TemporaryFolder folder_;
  const fs::path path_ = folder_ / "set";
  const at::Tensor images_ = made_images({5, 3, 2, 4});
  const at::Tensor labels_ = at::tensor({0, 1, 1, 0, 1}, at::kLong);
};

TEST_F(DatasetFolder, HasOnlyFilesOfItsOwn) {
  DatasetWriter writer(path_, {});
  EXPECT_THAT(test::complaint([&] {
                writer.add_split("../escape", TensorImages(images_), at::Tensor(), 0, 1);
              }),
              HasSubstr("the name of a split cannot be '../escape'"));
  EXPECT_FALSE(fs::exists(folder_ / "escape.safetensors"));
}

TEST_F(DatasetFolder, TakesNoNamesFromItsManifestThatLeadElsewhere) {
  write_set();
  replace_in_manifest("\"test\": {", "\"../test\": {");
  EXPECT_THAT(error(), AllOf(HasSubstr("manifest.json"), HasSubstr("'../test'")));
}

TEST_F(DatasetFolder, TellsChangedImagesWhereItsContentsAreVerified) {
  write_set();
  EXPECT_NO_THROW(Dataset(path_, /*verify_contents=*/true));
  std::string bytes = read_file(path_ / "train.safetensors");
  bytes.back() ^= 1;
  rewrite("train.safetensors", bytes);
  EXPECT_NO_THROW(Dataset{path_});
  EXPECT_THAT(test::complaint([&] { Dataset(path_, /*verify_contents=*/true); }),
              AllOf(HasSubstr("'train.safetensors' has changed"), HasSubstr("prepare --images")));
}

TEST_F(DatasetFolder, GivesBackWhatWasWritten) {
  write_set();
  const Dataset dataset(path_);
  EXPECT_EQ(dataset.folder(), path_);
  EXPECT_EQ(dataset.channels(), 3);
  EXPECT_EQ(dataset.height(), 2);
  EXPECT_EQ(dataset.width(), 4);
  EXPECT_THAT(dataset.classes(), ElementsAre("cat", "dog"));
  const Split& train = dataset.split("train");
  EXPECT_EQ(train.size(), 3);
  EXPECT_TRUE(at::equal(train.images(), images_.slice(0, 1, 4)));
  EXPECT_THAT(test::values(train.labels()), ElementsAre(1, 1, 0));
  EXPECT_EQ(dataset.split("test").size(), 1);
  EXPECT_TRUE(dataset.has_split("test"));
  EXPECT_FALSE(dataset.has_split("valid"));
  EXPECT_EQ(dataset.manifest().options.at("images"), "png");
}

TEST_F(DatasetFolder, HasNoLabelsWithoutClasses) {
  write_set(DatasetWriter::Existing::refuse, {});
  const Dataset dataset(path_);
  EXPECT_THAT(dataset.classes(), IsEmpty());
  EXPECT_FALSE(dataset.split("train").labels().defined());
}

TEST_F(DatasetFolder, OutlivesItsObjectInItsTensors) {
  write_set();
  const at::Tensor images = Dataset(path_).split("train").images();
  EXPECT_TRUE(at::equal(images, images_.slice(0, 1, 4)));
}

TEST_F(DatasetFolder, ListsItsSplitsWhereOneIsMissing) {
  write_set();
  EXPECT_THAT(test::complaint([&] { Dataset(path_).split("valid"); }),
              AllOf(HasSubstr("'valid'"), HasSubstr("test, train")));
}

TEST_F(DatasetFolder, HasTheSameFilesHoweverOftenItIsWritten) {
  write_set();
  const std::string first = read_file(path_ / "manifest.json");
  write_set(DatasetWriter::Existing::replace);
  EXPECT_EQ(read_file(path_ / "manifest.json"), first);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_.path()), {}), 1) << "something stayed";
}

TEST_F(DatasetFolder, HasAFingerprintOfItsContents) {
  const auto fingerprint = [&](int64_t seed, std::vector<std::string> classes,
                               const std::string& from) {
    DatasetWriter writer(path_, std::move(classes), DatasetWriter::Existing::replace);
    writer.add_split("train", TensorImages(made_images({5, 3, 2, 4}, seed)), labels_, 0, 5);
    writer.commit({{"from", from}});
    return Dataset(path_).fingerprint();
  };
  const std::string first = fingerprint(0, {"cat", "dog"}, "here");
  EXPECT_EQ(fingerprint(0, {"cat", "dog"}, "there"), first);
  EXPECT_NE(fingerprint(1, {"cat", "dog"}, "here"), first);
  EXPECT_NE(fingerprint(0, {"cat", "eel"}, "here"), first);
}

TEST_F(DatasetFolder, IsNotWrittenOverAnother) {
  write_set();
  EXPECT_THAT(test::complaint([&] { write_set(); }),
              AllOf(HasSubstr("exists: there is a data set"), HasSubstr("--force")));
  rewrite("manifest.json", "{\"format\": \"tessera corpus\"}");  // someone else's
  EXPECT_THAT(test::complaint([&] { write_set(DatasetWriter::Existing::replace); }),
              HasSubstr("not a data set"));
  EXPECT_TRUE(fs::exists(path_ / "train.safetensors"));
}

TEST_F(DatasetFolder, IsNotThereBeforeItIsComplete) {
  {
    DatasetWriter writer(path_, {});
    writer.add_split("train", TensorImages(images_), {}, 0, 5);
    EXPECT_FALSE(fs::exists(path_));
  }
  EXPECT_TRUE(fs::is_empty(folder_.path()));
}

TEST_F(DatasetFolder, HasImagesOfOneSize) {
  DatasetWriter writer(path_, {});
  writer.add_split("train", TensorImages(images_), {}, 0, 5);
  EXPECT_THAT(test::complaint([&] {
                writer.add_split("test", TensorImages(made_images({1, 3, 4, 4})), {}, 0, 1);
              }),
              AllOf(HasSubstr("'test'"), HasSubstr("[3, 4, 4]"), HasSubstr("[3, 2, 4]")));
}

TEST_F(DatasetFolder, KeepsNamesOfClassesThatAreUtf8) {
  write_set(DatasetWriter::Existing::refuse, {"chat", "bête"});
  EXPECT_THAT(Dataset(path_).classes(), ElementsAre("chat", "bête"));
  EXPECT_THAT(test::complaint([&] {
                write_set(DatasetWriter::Existing::replace, {"chat", "b\xeate"});
              }),
              HasSubstr("UTF-8"));
}

TEST_F(DatasetFolder, TellsWhatIsMissing) {
  EXPECT_THAT(error(), AllOf(HasSubstr("no such folder"), HasSubstr("--images")));
  fs::create_directory(path_);
  EXPECT_THAT(error(), HasSubstr("no manifest.json"));
  write_set();
  fs::remove(path_ / "test.safetensors");
  EXPECT_THAT(error(), AllOf(HasSubstr("incomplete"), HasSubstr("'test.safetensors'")));
}

TEST_F(DatasetFolder, TellsWhichFileIsCut) {
  write_set();
  fs::resize_file(path_ / "train.safetensors", fs::file_size(path_ / "train.safetensors") - 1);
  EXPECT_THAT(error(), AllOf(HasSubstr("damaged"), HasSubstr("'train.safetensors'")));
}

TEST_F(DatasetFolder, TellsFilesThatDoNotFitTheManifest) {
  write_set();
  const at::Tensor image = made_images({1, 3, 2, 4}), label = at::zeros({1}, at::kLong);
  forge_split({{"images", image}, {"labels", label}});
  EXPECT_NO_THROW(Dataset{path_});
  forge_split({{"images", image}, {"labels", label + 2}});
  EXPECT_THAT(error(), AllOf(HasSubstr("test.safetensors"), HasSubstr("0 to 1")));
  forge_split({{"images", image}});
  EXPECT_THAT(error(), HasSubstr("'labels'"));
  forge_split({{"images", made_images({1, 3, 4, 2})}, {"labels", label}});
  EXPECT_THAT(error(), HasSubstr("[1, 3, 4, 2]"));
  forge_split({{"images", image.to(at::kFloat)}, {"labels", label}});
  EXPECT_THAT(error(), HasSubstr("images"));
}

TEST_F(DatasetFolder, RefusesANewerFormat) {
  write_set();
  replace_in_manifest("\"format_version\": 1", "\"format_version\": 3");
  EXPECT_THAT(error(), AllOf(HasSubstr("manifest.json"), HasSubstr("newer")));
}

TEST_F(DatasetFolder, RefusesADamagedManifest) {
  write_set();
  const std::string whole = read_file(path_ / "manifest.json");
  for (const std::string& text :
       {std::string(), whole.substr(0, whole.size() / 2), std::string("[]"), std::string("{}"),
        std::string("{\"format\": \"something else\"}")}) {
    rewrite("manifest.json", text);
    EXPECT_THAT(error(), HasSubstr("manifest.json")) << text;
  }
  rewrite("manifest.json", whole);
  replace_in_manifest("\"hash\": \"", "\"hash\": \"0");
  EXPECT_THAT(error(), HasSubstr("fingerprint"));
}

at::Tensor codes(int64_t count, int64_t first) {
  return (at::arange(count * 4, at::kShort) + first).view({count, 1, 2, 2});
}

TEST_F(DatasetFolder, HoldsCodesInPlaceOfImages) {
  {
    DatasetWriter writer(path_, {"cat", "dog"}, DatasetWriter::Existing::refuse,
                         Manifest::Codes{.symbols = 300, .images = "abc"});
    const at::Tensor labels = at::tensor({0, 1, 1}, at::kLong);
    writer.add_codes("train", codes(3, 285), codes(3, 1), labels);
    writer.add_file("more.txt", [](const fs::path& file) { write_file_atomically(file, "x"); });
    EXPECT_THROW(writer.add_codes("test", codes(3, 0).to(at::kByte), codes(3, 0), labels), Error);
    writer.commit({});
  }
  const Dataset dataset(path_, /*verify_contents=*/true);
  EXPECT_TRUE(dataset.holds_codes());
  EXPECT_EQ(dataset.manifest().codes, (Manifest::Codes{300, "abc"}));
  EXPECT_TRUE(at::equal(dataset.split("train").images(), codes(3, 285)));
  EXPECT_TRUE(at::equal(dataset.split("train").mirrored(), codes(3, 1)));
  EXPECT_EQ(dataset.split("train").labels().size(0), 3);
  EXPECT_THAT(dataset.manifest().json(), HasSubstr("\"format_version\": 2"));
  EXPECT_THAT(test::complaint([&] { dataset.require_pixels("a test"); }),
              HasSubstr("holds codes of images, and a test needs pixels"));
  EXPECT_THAT(test::complaint([&] { ImageSource::open(path_); }), HasSubstr("holds codes"));
}

TEST_F(DatasetFolder, TellsCodesThatThereAreNot) {
  DatasetWriter writer(path_, {}, DatasetWriter::Existing::refuse,
                       Manifest::Codes{.symbols = 10, .images = "abc"});
  writer.add_codes("train", codes(3, 0), codes(3, 0), at::Tensor());
  writer.commit({});
  EXPECT_THAT(error(), HasSubstr("not one of 0 to 9"));
}

// A program that knows no codes can still read it.
TEST_F(DatasetFolder, OfImagesIsWrittenAsTheFirstFormat) {
  write_set();
  EXPECT_THAT(Manifest::load(path_).json(), HasSubstr("\"format_version\": 1"));
  EXPECT_FALSE(Dataset(path_).holds_codes());
}

}  // namespace
}  // namespace tessera::image
