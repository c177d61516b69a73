#include "files/safetensors_header.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "tessera/base/error.h"

namespace tessera::safetensors {
namespace {

std::string with_length(const std::string& json) {
  const uint64_t length = json.size();
  std::string bytes(sizeof length, '\0');
  std::memcpy(bytes.data(), &length, sizeof length);
  return bytes + json;
}

Header two_tensors() {
  Header header;
  header.metadata = {{"k", "v"}};
  header.entries["small"] = {.type = ElementType::u8, .shape = {3}};
  header.entries["large"] = {.type = ElementType::f64, .shape = {2, 1}};
  return header;
}

TEST(SafetensorsHeader, PlacesLargeElementsFirstAndPadsToEightBytes) {
  Header header = two_tensors();
  std::vector<std::string> order;
  const std::string bytes = format_header(header, order);
  const std::string json = R"({"__metadata__":{"k":"v"},)"
                           R"("large":{"dtype":"F64","shape":[2,1],"data_offsets":[0,16]},)"
                           R"("small":{"dtype":"U8","shape":[3],"data_offsets":[16,19]}})";
  EXPECT_EQ(bytes.substr(8, json.size()), json);
  EXPECT_EQ(bytes.size() % 8, 0u);
  EXPECT_EQ(bytes.find_first_not_of(' ', 8 + json.size()), std::string::npos);
  EXPECT_EQ(header.data_start, bytes.size());
  EXPECT_EQ(order, (std::vector<std::string>{"large", "small"}));
}

TEST(SafetensorsHeader, ReadsWhatItWrites) {
  Header header = two_tensors();
  std::vector<std::string> order;
  const std::string bytes = format_header(header, order);
  const Header read = parse_header(bytes + std::string(19, 'x'));
  EXPECT_EQ(read.metadata, header.metadata);
  EXPECT_EQ(read.data_start, header.data_start);
  ASSERT_EQ(read.entries.size(), 2u);
  EXPECT_EQ(read.entries.at("small").begin, 16u);
  EXPECT_EQ(read.entries.at("small").end, 19u);
  EXPECT_EQ(read.entries.at("large").shape, (std::vector<int64_t>{2, 1}));
  EXPECT_EQ(read.entries.at("large").type, ElementType::f64);
}

TEST(SafetensorsHeader, AcceptsAnyOrderOfTensorsAndFields) {
  const Header header =
      parse_header(with_length(R"({ "b" : {"shape":[1],"data_offsets":[1,2],"dtype":"U8"},
                     "a":{"data_offsets":[0,1],"dtype":"BOOL","shape":[]}})") +
                   "xy");
  EXPECT_EQ(header.entries.size(), 2u);
}

TEST(SafetensorsHeader, AcceptsTensorsWithoutElementsAnywhere) {
  const Header header =
      parse_header(with_length(R"({"z":{"dtype":"F32","shape":[0],"data_offsets":[0,0]},
      "a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},
      "e":{"dtype":"F32","shape":[4,0],"data_offsets":[2,2]}})") +
                   "xy");
  EXPECT_EQ(header.entries.size(), 3u);
}

TEST(SafetensorsHeader, AcceptsAFileWithoutTensors) {
  EXPECT_EQ(parse_header(with_length("{}      ")).entries.size(), 0u);
  EXPECT_EQ(parse_header(with_length(R"({"__metadata__":{}})")).entries.size(), 0u);
}

TEST(SafetensorsHeader, RefusesToWriteWhatCannotBeRead) {
  std::vector<std::string> order;
  Header reserved;
  reserved.entries["__metadata__"] = {};
  EXPECT_THROW(format_header(reserved, order), Error);
  Header not_utf8;
  not_utf8.entries["\xff"] = {};
  EXPECT_THROW(format_header(not_utf8, order), Error);
}

// Whatever the bytes, parse_header() throws Error or returns entries that lie within the data.
TEST(SafetensorsHeader, SurvivesDamagedFiles) {
  Header header = two_tensors();
  std::vector<std::string> order;
  const std::string good = format_header(header, order) + std::string(19, 'x');
  const std::string likely = "0123456789[]{},:\"\\-e. \0\xff";
  std::mt19937 random(1);
  int accepted = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::string bytes = good;
    for (uint32_t edits = 1 + random() % 3; edits > 0; --edits) {
      const size_t at = random() % bytes.size();
      switch (random() % 4) {
        case 0:
          bytes[at] = likely[random() % likely.size()];
          break;
        case 1:
          bytes.erase(at, 1 + random() % 4);
          break;
        case 2:
          bytes.insert(at, 1, likely[random() % likely.size()]);
          break;
        default:
          bytes[at] = static_cast<char>(random());
      }
      if (bytes.empty()) break;
    }
    try {
      const Header read = parse_header(bytes);
      ++accepted;
      for (const auto& [name, entry] : read.entries) {
        ASSERT_LE(entry.begin, entry.end);
        ASSERT_LE(read.data_start + entry.end, bytes.size());
      }
    } catch (const Error&) {
    }
  }
  EXPECT_GT(accepted, 100);
  EXPECT_LT(accepted, 10'000);
}

}  // namespace
}  // namespace tessera::safetensors
