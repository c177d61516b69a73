#include "text/tokenizer.h"

#include "files/files.h"
#include "support/temporary_folder.h"
#include "text/fixtures.h"
#include "text/utf8.h"

#include <tessera/base/error.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <thread>

namespace tessera::text {
namespace {

using test::kTextFixtures;
using testing::ElementsAre;
using testing::HasSubstr;

// A dictionary of everything the lines need.
Dictionary dictionary_of(const std::vector<std::string>& lines, TokenizerKind kind, bool raw,
                         const Bpe* bpe = nullptr) {
  Dictionary dictionary;
  for (const std::string& line : lines)
    for (const std::string& symbol : split_symbols(line, kind, raw, bpe)) dictionary.add(symbol, 1);
  return dictionary;
}

const std::vector<std::string> kLines{"Über die Straße, \"schnell\"!", "don't foo@@ bar@@",
                                      "ein kleiner Hund läuft (über die Wiese)."};

Tokenizer bpe_tokenizer(bool raw) {
  const Bpe bpe(BpeCodes::load(kTextFixtures / "captions.codes"));
  return Tokenizer::bpe(bpe, dictionary_of(kLines, TokenizerKind::bpe, raw, &bpe), raw);
}

TEST(Tokenizer, GivesRawTextBack) {
  const Tokenizer bpe = bpe_tokenizer(true);
  const Tokenizer words = Tokenizer::words(dictionary_of(kLines, TokenizerKind::words, true), true);
  const Tokenizer characters =
      Tokenizer::characters(dictionary_of(kLines, TokenizerKind::characters, true));
  for (const std::string& line : kLines) {
    EXPECT_EQ(bpe.decode(bpe.encode(line)), line);
    EXPECT_EQ(words.decode(words.encode(line)), line);
    EXPECT_EQ(characters.decode(characters.encode(line)), line);
  }
  EXPECT_EQ(bpe.decode(bpe.encode("  Über   die\tStraße ")), "Über die Straße");
}

TEST(Tokenizer, LeavesTokenisedTextAsItIs) {
  const std::string line = "don 't stop , über die straße .";
  const Bpe bpe(BpeCodes::load(kTextFixtures / "captions.codes"));
  const Tokenizer tokenizer =
      Tokenizer::bpe(bpe, dictionary_of({line}, TokenizerKind::bpe, false, &bpe), false);
  EXPECT_FALSE(tokenizer.raw());
  EXPECT_EQ(tokenizer.decode(tokenizer.encode(line)), line);
  EXPECT_EQ(tokenizer.pieces(tokenizer.encode(line)), bpe.apply(line));
}

TEST(Tokenizer, CutsAtTheFirstEndAndLeavesPaddingOut) {
  Dictionary dictionary;
  const Id a = dictionary.add("a", 1), b = dictionary.add("b", 1);
  const Tokenizer tokenizer = Tokenizer::words(dictionary, false);
  const std::vector<Id> ids{Dictionary::kBos, a, Dictionary::kPad, Dictionary::kUnk, b,
                            Dictionary::kEos, a};
  EXPECT_EQ(tokenizer.decode(ids), "a <unk> b");
  EXPECT_EQ(tokenizer.pieces(ids), "a <unk> b");
  EXPECT_EQ(tokenizer.decode({}), "");
}

TEST(Tokenizer, KnowsNoSpecialsInText) {
  Dictionary dictionary;
  const Id a = dictionary.add("a", 1);
  const Tokenizer tokenizer = Tokenizer::words(dictionary, false);
  EXPECT_THAT(
      tokenizer.encode("a </s> <pad> <s> new"),
      ElementsAre(a, Dictionary::kUnk, Dictionary::kUnk, Dictionary::kUnk, Dictionary::kUnk));
}

TEST(Tokenizer, WritesBlanksAsASymbolBetweenCharacters) {
  Dictionary dictionary;
  for (const char* symbol : {"▁", "a", "ü"}) dictionary.add(symbol, 1);
  const Tokenizer tokenizer = Tokenizer::characters(dictionary);
  EXPECT_EQ(tokenizer.pieces(tokenizer.encode(" a  ü▁")), "a ▁ ü <unk>");
  EXPECT_EQ(tokenizer.decode(tokenizer.encode(" a  ü")), "a ü");
  EXPECT_EQ(tokenizer.kind(), TokenizerKind::characters);
}

TEST(Tokenizer, JoinsPiecesOfAnUnfinishedWord) {
  Dictionary dictionary;
  const Id a = dictionary.add("kle@@", 1);
  const Bpe bpe(BpeCodes{});
  const Tokenizer tokenizer = Tokenizer::bpe(bpe, dictionary, false);
  EXPECT_EQ(tokenizer.decode(std::vector<Id>{a, a}), "klekle");
}

TEST(Tokenizer, LeavesNoMarkWhereAPieceStandsBeforeAJoiner) {
  Dictionary dictionary;
  const Id piece = dictionary.add("kle@@", 1), comma = dictionary.add("￭,", 1),
           mark = dictionary.add("￭@@", 1), word = dictionary.add("hund", 1);
  const Tokenizer tokenizer = Tokenizer::bpe(Bpe(BpeCodes{}), dictionary, true);
  EXPECT_EQ(tokenizer.decode(std::vector<Id>{piece, comma, word}), "kle, hund");
  EXPECT_EQ(tokenizer.decode(std::vector<Id>{word, mark, comma, mark}), "hund,");
}

TEST(Tokenizer, ComesBackFromItsFiles) {
  const test::TemporaryFolder folder;
  for (const bool raw : {false, true}) {
    const Tokenizer saved = bpe_tokenizer(raw);
    saved.save(folder.path());
    const Tokenizer loaded = Tokenizer::load(folder.path());
    EXPECT_EQ(loaded.raw(), raw);
    EXPECT_EQ(loaded.kind(), TokenizerKind::bpe);
    for (const std::string& line : kLines) EXPECT_EQ(loaded.encode(line), saved.encode(line));
  }
  const Tokenizer characters =
      Tokenizer::characters(dictionary_of(kLines, TokenizerKind::characters, true));
  characters.save(folder.path());
  EXPECT_EQ(Tokenizer::load(folder.path()).encode(kLines[0]), characters.encode(kLines[0]));
}

TEST(Tokenizer, RefusesBrokenFolders) {
  const test::TemporaryFolder folder;
  const auto error = [&] {
    try {
      Tokenizer::load(folder.path());
    } catch (const Error& failure) {
      return std::string(failure.what());
    }
    return std::string("no error");
  };
  const auto write = [&](const std::string& json) {
    std::ofstream(folder / "tokenizer.json") << json;
  };
  EXPECT_THAT(error(), HasSubstr("tokenizer.json"));
  bpe_tokenizer(true).save(folder.path());
  write("{\"format\":");
  EXPECT_THAT(error(), HasSubstr("not a tokenizer of ours"));
  write("{\"format\":\"tessera-tokenizer\",\"version\":2,\"kind\":\"bpe\",\"raw\":true}");
  EXPECT_THAT(error(), HasSubstr("use a newer tessera"));
  write("{\"format\":\"tessera-tokenizer\",\"version\":1,\"kind\":\"magic\",\"raw\":true}");
  EXPECT_THAT(error(), HasSubstr("unknown kind 'magic'"));
  write("{\"format\":\"tessera-tokenizer\",\"version\":1,\"kind\":\"bpe\"}");
  EXPECT_THAT(error(), HasSubstr("no \"raw\""));
  write("{\"format\":\"tessera-tokenizer\",\"version\":1,\"kind\":\"bpe\",\"raw\":true}");
  EXPECT_EQ(error(), "no error");
  std::filesystem::remove(folder / "codes.bpe");
  EXPECT_THAT(error(), HasSubstr("codes.bpe"));
}

TEST(Tokenizer, IsSafeToShareBetweenThreads) {
  const Tokenizer tokenizer = bpe_tokenizer(true);
  const std::vector<Id> expected = bpe_tokenizer(true).encode(kLines[2]);
  std::vector<std::thread> threads;
  std::array<bool, 4> equal{};
  for (bool& result : equal)
    threads.emplace_back([&, copy = tokenizer] {
      result = true;
      for (int k = 0; k < 500; ++k) result = result && copy.encode(kLines[2]) == expected;
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(equal, ElementsAre(true, true, true, true));
}

}  // namespace
}  // namespace tessera::text
