#include "corpus/corpus.h"

#include "corpus/batcher.h"
#include "corpus/corpus_writer.h"
#include "files/files.h"
#include "support/complaint.h"
#include "support/temporary_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <random>

namespace tessera::corpus {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

text::Tokenizer five_words() {
  text::Dictionary dictionary;
  for (const char* word : {"ein", "hund", "a", "dog", "kleiner"}) dictionary.add(word, 1);
  return text::Tokenizer::words(dictionary, false);
}

class CorpusFolder : public testing::Test {
 protected:
  void add(CorpusWriter& writer, const std::string& source, const std::string& target) const {
    writer.add(source, target, tokenizer_.encode(source), tokenizer_.encode(target));
  }

  // A corpus with two pairs to train on and one to test with.
  void write_corpus(CorpusWriter::Existing existing = CorpusWriter::Existing::refuse) const {
    CorpusWriter writer(path_, tokenizer_, existing);
    writer.begin_split("train");
    add(writer, "ein kleiner hund", "a dog");
    add(writer, "hund", "dog");
    writer.begin_split("test");
    add(writer, "eine katze", "a  cat");
    add(writer, "", "");
    writer.commit({{"tokenizer", "words"}});
  }

  // What Corpus::open() throws: "message / hint".
  std::string error(bool verify = false) const {
    try {
      Corpus::open(path_, verify);
    } catch (const Error& failure) {
      return std::string(failure.what()) + " / " + failure.hint();
    }
    return "no error";
  }

  std::map<std::string, FileStamp> files() const { return Manifest::load(path_).files; }

  void rewrite(const std::string& file, const std::string& bytes) const {
    std::ofstream(path_ / file, std::ios::binary) << bytes;
  }

  void append(const std::string& file, const std::string& bytes) const {
    std::ofstream(path_ / file, std::ios::app | std::ios::binary) << bytes;
  }

  void replace_in_manifest(const std::string& from, const std::string& to) const {
    std::string text = read_file(path_ / "manifest.json");
    const size_t place = text.find(from);
    ASSERT_NE(place, std::string::npos) << from;
    rewrite("manifest.json", text.replace(place, from.size(), to));
  }

  test::TemporaryFolder folder_;
  const fs::path path_ = folder_ / "corpus";
  const text::Tokenizer tokenizer_ = five_words();
};

TEST_F(CorpusFolder, GivesBackWhatWasWritten) {
  write_corpus();
  const Corpus corpus = Corpus::open(path_, true);
  ASSERT_TRUE(corpus.has("train"));
  ASSERT_TRUE(corpus.has("test"));
  EXPECT_FALSE(corpus.has("valid"));
  const Split& train = corpus.split("train");
  ASSERT_EQ(train.size(), 2);
  EXPECT_THAT(train.source(0), ElementsAre(4, 8, 5, text::Dictionary::kEos));
  EXPECT_THAT(train.target(0), ElementsAre(6, 7, text::Dictionary::kEos));
  EXPECT_THAT(train.source(1), ElementsAre(5, text::Dictionary::kEos));
  EXPECT_EQ(train.source_length(0), 4);
  EXPECT_EQ(corpus.tokenizer().decode(train.source(0)), "ein kleiner hund");
  EXPECT_THAT(corpus.split("test").source(1), ElementsAre(text::Dictionary::kEos));
  EXPECT_EQ(corpus.manifest().options.at("tokenizer"), "words");
}

TEST_F(CorpusFolder, KeepsTheLinesOfAllSplitsButTrain) {
  write_corpus();
  const Corpus corpus = Corpus::open(path_);
  EXPECT_THAT(corpus.split("test").source_lines(), ElementsAre("eine katze", ""));
  EXPECT_THAT(corpus.split("test").target_lines(), ElementsAre("a  cat", ""));
  EXPECT_THROW(corpus.split("train").source_lines(), Error);
}

TEST_F(CorpusFolder, CountsTokensAndUnknownOnes) {
  write_corpus();
  const Manifest manifest = Corpus::open(path_).manifest();
  const SplitCounts& test = manifest.splits.at("test");
  EXPECT_EQ(test.kept, 2);
  EXPECT_EQ(test.source_tokens, 4);
  EXPECT_EQ(test.source_unknown, 2);
  EXPECT_EQ(test.target_unknown, 1);
}

TEST_F(CorpusFolder, NamesSymbolsThatNoTargetUses) {
  write_corpus();
  EXPECT_THAT(
      Corpus::open(path_).unused_in_targets(),
      ElementsAre(text::Dictionary::kBos, text::Dictionary::kPad, text::Dictionary::kUnk, 4, 5, 8));
}

TEST_F(CorpusFolder, HasOnlyFilesOfItsOwn) {
  CorpusWriter writer(path_, tokenizer_);
  for (const char* name : {"../escape", "", "/tmp/x", "a/b"})
    EXPECT_THAT(test::complaint([&] { writer.begin_split(name); }),
                HasSubstr("the name of a split cannot be"));
  EXPECT_FALSE(fs::exists(folder_ / "escape.src.ids"));
}

TEST_F(CorpusFolder, TakesNoNamesFromItsManifestThatLeadElsewhere) {
  write_corpus();
  const std::string whole = read_file(path_ / "manifest.json");
  replace_in_manifest("\"test\": {", "\"../test\": {");
  EXPECT_THAT(error(), AllOf(HasSubstr("manifest.json"), HasSubstr("'../test'")));
  rewrite("manifest.json", whole);
  replace_in_manifest("\"test.src.ids\"", "\"../test.src.ids\"");
  EXPECT_THAT(error(), AllOf(HasSubstr("manifest.json"), HasSubstr("'../test.src.ids'")));
}

TEST_F(CorpusFolder, TellsCountsThatAreNone) {
  write_corpus();
  const std::string whole = read_file(path_ / "manifest.json");
  for (const char* number : {"9223372036854775807", "18446744073709551615", "-1", "1e300", "2.5",
                             "\"2\"", "null", "281474976710657"}) {
    for (const char* key : {"\"kept\": 2", "\"symbols\": 9"}) {
      rewrite("manifest.json", whole);
      const std::string name(key, std::string_view(key).find(':') + 2);
      replace_in_manifest(key, name + number);
      EXPECT_THAT(error(), AllOf(HasSubstr("manifest.json"), HasSubstr("damaged"))) << number;
    }
  }
}

TEST_F(CorpusFolder, SurvivesOffsetsThatAreNone) {
  write_corpus();
  const std::string whole = read_file(path_ / "train.src.offsets");
  ASSERT_EQ(whole.size(), 3 * sizeof(int64_t));
  for (const int64_t wrong : {std::numeric_limits<int64_t>::min(), int64_t{-1}, int64_t{0},
                              int64_t{7}, std::numeric_limits<int64_t>::max()}) {
    std::string bytes = whole;
    std::memcpy(bytes.data() + sizeof wrong, &wrong, sizeof wrong);
    rewrite("train.src.offsets", bytes);
    const Corpus corpus = Corpus::open(path_);
    const Split& train = corpus.split("train");
    EXPECT_THAT(test::complaint([&] { train.source(0); }), HasSubstr("damaged"));
    EXPECT_THAT(test::complaint([&] { train.source_length(0); }), HasSubstr("damaged"));
    EXPECT_THAT(test::complaint([&] { Batcher(train, {}, 1); }), HasSubstr("damaged"));
  }
}

// Without a check of the hashes, changed bytes give an Error or some corpus, never anything worse.
TEST_F(CorpusFolder, SurvivesAnyChangedByte) {
  write_corpus();
  std::mt19937 random(1);
  for (const auto& entry : fs::directory_iterator(path_)) {
    const std::string name = entry.path().filename(), whole = read_file(entry.path());
    for (int round = 0; round < 40 && !whole.empty(); ++round) {
      std::string bytes = whole;
      for (int k = 0; k <= round % 3; ++k)
        bytes[random() % bytes.size()] = static_cast<char>(random());
      rewrite(name, bytes);
      try {
        const Corpus corpus = Corpus::open(path_);
        for (const auto& [split, counts] : corpus.manifest().splits) {
          const Split& sentences = corpus.split(split);
          Batcher(sentences, {}, 1);
          for (int64_t k = 0; k < sentences.size(); ++k) sentences.target(k);
        }
      } catch (const Error&) {
      }
      EXPECT_TRUE(bytes == whole || error(/*verify=*/true) != "no error" || name == "manifest.json")
          << name;
    }
    rewrite(name, whole);
  }
}

TEST_F(CorpusFolder, ListsItsSplitsWhereOneIsMissing) {
  write_corpus();
  const Corpus corpus = Corpus::open(path_);
  try {
    corpus.split("valid");
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("'valid'"), HasSubstr("test, train")));
  }
}

TEST_F(CorpusFolder, HasTheSameFilesHoweverOftenItIsWritten) {
  write_corpus();
  const std::string first = read_file(path_ / "manifest.json");
  write_corpus(CorpusWriter::Existing::replace);
  EXPECT_EQ(read_file(path_ / "manifest.json"), first);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_.path()), {}), 1) << "something stayed";
}

TEST_F(CorpusFolder, HasAFingerprintOfWhatTrainingNeeds) {
  const auto fingerprint = [&](const std::string& train, const std::string& test) {
    CorpusWriter writer(path_, tokenizer_, CorpusWriter::Existing::replace);
    writer.begin_split("train");
    add(writer, train, "dog");
    writer.begin_split("test");
    add(writer, test, "dog");
    writer.commit({});
    return Corpus::open(path_).fingerprint();
  };
  const std::string first = fingerprint("hund", "hund");
  EXPECT_EQ(fingerprint("hund", "ein hund"), first);
  EXPECT_NE(fingerprint("ein hund", "hund"), first);
  EXPECT_EQ(fingerprint("hund", "hund"), first);
}

TEST_F(CorpusFolder, IsNotWrittenOverAnother) {
  write_corpus();
  EXPECT_THROW(write_corpus(), Error);
  fs::remove(path_ / "manifest.json");  // now someone's folder, not a corpus
  EXPECT_THROW(write_corpus(CorpusWriter::Existing::replace), Error);
  EXPECT_TRUE(fs::exists(path_ / "dict.txt"));
}

TEST_F(CorpusFolder, MayBeWrittenIntoAnEmptyFolder) {
  fs::create_directory(path_);
  write_corpus();
  EXPECT_EQ(error(), "no error");
}

TEST_F(CorpusFolder, IsNotThereBeforeItIsComplete) {
  {
    CorpusWriter writer(path_, tokenizer_);
    writer.begin_split("train");
    add(writer, "hund", "dog");
    EXPECT_FALSE(fs::exists(path_));
  }
  EXPECT_TRUE(fs::is_empty(folder_.path()));
}

TEST_F(CorpusFolder, TellsWhatIsMissing) {
  EXPECT_THAT(error(), AllOf(HasSubstr("no such folder"), HasSubstr("tessera prepare")));
  fs::create_directory(path_);
  EXPECT_THAT(error(), AllOf(HasSubstr("no manifest.json"), HasSubstr("tessera prepare")));
}

TEST_F(CorpusFolder, TellsWhichFileIsMissing) {
  write_corpus();
  for (const auto& [name, stamp] : files()) {
    fs::rename(path_ / name, folder_ / "away");
    EXPECT_THAT(error(), AllOf(HasSubstr("'" + name + "'"), HasSubstr("prepare` again")));
    fs::rename(folder_ / "away", path_ / name);
  }
}

TEST_F(CorpusFolder, TellsWhichFileIsCutOrGrown) {
  write_corpus();
  for (const auto& [name, stamp] : files()) {
    const std::string whole = read_file(path_ / name);
    fs::resize_file(path_ / name, whole.size() - 1);
    EXPECT_THAT(error(), AllOf(HasSubstr("'" + name + "'"), HasSubstr("prepare` again")));
    rewrite(name, whole);
    append(name, "x");
    EXPECT_THAT(error(), HasSubstr("'" + name + "'"));
    rewrite(name, whole);
  }
  EXPECT_EQ(error(true), "no error");
}

TEST_F(CorpusFolder, FindsChangedContentsWhereAsked) {
  write_corpus();
  for (const auto& [name, stamp] : files()) {
    const std::string whole = read_file(path_ / name);
    std::string changed = whole;
    changed[changed.size() / 2] ^= 1;
    rewrite(name, changed);
    EXPECT_THAT(error(true), HasSubstr("'" + name + "'"));
    rewrite(name, whole);
  }
}

TEST_F(CorpusFolder, NeverReadsOutsideItsFiles) {
  write_corpus();
  std::string offsets = read_file(path_ / "train.src.offsets");
  const int64_t wild = 1000000;
  offsets.replace(8, 8, reinterpret_cast<const char*>(&wild), 8);
  rewrite("train.src.offsets", offsets);
  const Corpus corpus = Corpus::open(path_);
  EXPECT_THROW(corpus.split("train").source(0), Error);
  EXPECT_THROW(corpus.split("train").source(1), Error);
  EXPECT_THROW(corpus.split("train").source(2), Error);
  EXPECT_THROW(corpus.split("train").source(-1), Error);
}

TEST_F(CorpusFolder, NamesTheFileOfASymbolThatTheDictionaryDoesNotHave) {
  write_corpus();
  std::string ids = read_file(path_ / "train.tgt.ids");
  for (const text::Id wild : {text::Id{1000}, text::Id{-1}}) {
    ids.replace(0, sizeof(text::Id), reinterpret_cast<const char*>(&wild), sizeof(text::Id));
    rewrite("train.tgt.ids", ids);
    const Corpus corpus = Corpus::open(path_);
    EXPECT_THAT(test::complaint([&] { corpus.split("train").target(0); }),
                AllOf(HasSubstr("train.tgt.ids' is damaged: sentence 0 has the symbol " +
                                std::to_string(wild)),
                      HasSubstr("tessera prepare")));
  }
}

TEST_F(CorpusFolder, RefusesANewerFormat) {
  write_corpus();
  replace_in_manifest("\"format_version\": 1", "\"format_version\": 2");
  EXPECT_THAT(error(), AllOf(HasSubstr("manifest.json"), HasSubstr("newer")));
}

TEST_F(CorpusFolder, RefusesADamagedManifest) {
  write_corpus();
  const std::string whole = read_file(path_ / "manifest.json");
  for (const std::string& text :
       {std::string(), whole.substr(0, whole.size() / 2), std::string("[]"), std::string("{}"),
        std::string("{\"format\": \"something else\"}"), std::string(1000, '[')}) {
    rewrite("manifest.json", text);
    EXPECT_THAT(error(), HasSubstr("manifest.json")) << text;
  }
  rewrite("manifest.json", whole);
  replace_in_manifest("\"kept\": 2", "\"kept\": 3");
  EXPECT_THAT(error(), HasSubstr("damaged"));
  rewrite("manifest.json", whole);
  replace_in_manifest("\"kept\": 2", "\"kept\": -1");
  EXPECT_THAT(error(), HasSubstr("damaged"));
  rewrite("manifest.json", whole);
  replace_in_manifest("\"hash\": \"", "\"hash\": \"0");
  EXPECT_THAT(error(), HasSubstr("fingerprint"));
}

}  // namespace
}  // namespace tessera::corpus
