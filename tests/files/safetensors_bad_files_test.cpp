#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "files/files.h"
#include "support/temporary_folder.h"
#include "tessera/base/error.h"
#include "tessera/files/safetensors.h"

namespace tessera {
namespace {

std::string number(uint64_t value) {
  std::string bytes(sizeof value, '\0');
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

std::string file(const std::string& header, size_t data_size = 0) {
  return number(header.size()) + header + std::string(data_size, '\0');
}

// A file of one tensor "w", with four bytes of data.
std::string tensor(const std::string& fields) {
  return file(R"({"w":{)" + fields + "}}", 4);
}

std::string repeated(const std::string& text, size_t count) {
  std::string all;
  for (size_t i = 0; i < count; ++i) all += text;
  return all;
}

struct BadFile {
  const char* name;
  std::string bytes;
  const char* complaint;  // must be part of the message
};

std::string two(const std::string& a, const std::string& b, size_t data_size) {
  return file(R"({"a":{"dtype":"U8",)" + a + R"(},"b":{"dtype":"U8",)" + b + "}}", data_size);
}

std::vector<BadFile> bad_files() {
  const std::string good = tensor(R"("dtype":"F32","shape":[1],"data_offsets":[0,4])");
  return {
      // The length of the header
      {"Empty", "", "too short"},
      {"SevenBytes", std::string(7, '\1'), "too short"},
      {"NoHeader", number(0), "does not begin with '{'"},
      {"HeaderCutOff", good.substr(0, 30), "only 22 follow"},
      {"LengthBeyondTheFile", number(100) + "{}", "only 2 follow"},
      {"LengthOverTheLimit", number(100'000'001) + "{}", "over the format's limit"},
      {"LengthThatOverflows", number(~uint64_t{0}) + "{}", "over the format's limit"},
      {"LengthThatWrapsToTheFileSize", number(~uint64_t{0} - 7) + "{}", "over the format's limit"},
      {"LengthOneTooShort", number(1) + "{}", "does not end with '}'"},
      {"LengthOneTooLong", number(3) + "{}", "only 2 follow"},

      // The JSON
      {"NotJson", file("{hello}"), "not valid JSON"},
      {"AList", file("[1,2]"), "does not begin with '{'"},
      {"LeadingSpace", file(" {}"), "does not begin with '{'"},
      {"ByteOrderMark", file("\xef\xbb\xbf{}"), "does not begin with '{'"},
      {"TwoObjects", file("{}{}"), "not valid JSON"},
      {"TrailingComma", file(R"({"__metadata__":{},})"), "not valid JSON"},
      {"TrailingNewline", file("{}\n"), "does not end with '}'"},
      {"TrailingZeros", file(std::string("{}\0\0", 4)), "zero byte"},
      {"ZeroByteInside", file(std::string("{}\0}", 4)), "zero byte"},
      {"Comment", file("{/* hi */}"), "not valid JSON"},
      {"NotUtf8", file("{\"\xff\":{}}"), "not valid JSON"},
      {"UnpairedSurrogate", file(R"({"\ud800":{}})"), "not valid JSON"},
      {"ObjectNotClosed", file(R"({"__metadata__":{})"), "not valid JSON"},
      {"DeepNesting", file(R"({"w":)" + repeated("{\"a\":", 100'000) + "}"), "unknown field 'a'"},
      {"DeepLists", file(R"({"w":{"shape":)" + repeated("[", 100'000) + "}"), "holds a list"},

      // Keys
      {"SameTensorTwice",
       file(R"({"w":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},)"
            R"("w":{"dtype":"U8","shape":[2],"data_offsets":[2,4]}})",
            4),
       "'w' comes twice"},
      {"MetadataTwice", file(R"({"__metadata__":{},"__metadata__":{}})"), "comes twice"},
      {"MetadataKeyTwice", file(R"({"__metadata__":{"a":"1","a":"2"}})"),
       "the key 'a' of __metadata__ comes twice"},
      {"FieldTwice", tensor(R"("dtype":"F32","dtype":"F32","shape":[1],"data_offsets":[0,4])"),
       "the field 'dtype' of tensor 'w' comes twice"},
      {"UnknownField", tensor(R"("dtype":"F32","shape":[1],"data_offsets":[0,4],"x":1)"),
       "unknown field 'x'"},
      {"NoType", tensor(R"("shape":[1],"data_offsets":[0,4])"), "has no 'dtype'"},
      {"NoShape", tensor(R"("dtype":"F32","data_offsets":[0,4])"), "has no 'shape'"},
      {"NoOffsets", tensor(R"("dtype":"F32","shape":[1])"), "has no 'data_offsets'"},

      // Values
      {"TensorIsANumber", file(R"({"w":1})"), "'w' is a number, not a JSON object"},
      {"TensorIsNull", file(R"({"w":null})"), "'w' is null"},
      {"TensorIsAList", file(R"({"w":[]})"), "'w' is a list"},
      {"MetadataIsAString", file(R"({"__metadata__":"x"})"), "not a JSON object"},
      {"MetadataHoldsANumber", file(R"({"__metadata__":{"a":1}})"), "not a string"},
      {"MetadataHoldsAnObject", file(R"({"__metadata__":{"a":{}}})"), "not a string"},
      {"MetadataHoldsTrue", file(R"({"__metadata__":{"a":true}})"), "is true, not a string"},
      {"TypeIsANumber", tensor(R"("dtype":32,"shape":[1],"data_offsets":[0,4])"), "not a string"},
      {"TypeIsAList", tensor(R"("dtype":["F32"],"shape":[1],"data_offsets":[0,4])"),
       "'dtype' of tensor 'w' is a list"},
      {"TypeIsUnknown", tensor(R"("dtype":"F31","shape":[1],"data_offsets":[0,4])"), "'F31'"},
      {"TypeIsLowerCase", tensor(R"("dtype":"f32","shape":[1],"data_offsets":[0,4])"), "'f32'"},
      {"TypeIsNotSupported", tensor(R"("dtype":"F8_E8M0","shape":[4],"data_offsets":[0,4])"),
       "which is not supported"},
      {"ShapeIsANumber", tensor(R"("dtype":"F32","shape":1,"data_offsets":[0,4])"), "not a list"},
      {"ShapeIsNegative", tensor(R"("dtype":"F32","shape":[-1],"data_offsets":[0,4])"),
       "a negative number"},
      {"ShapeIsAFraction", tensor(R"("dtype":"F32","shape":[1.0],"data_offsets":[0,4])"),
       "the number 1.0"},
      {"ShapeHoldsAString", tensor(R"("dtype":"F32","shape":["1"],"data_offsets":[0,4])"),
       "holds a string"},
      {"ShapeHoldsTrue", tensor(R"("dtype":"F32","shape":[true],"data_offsets":[0,4])"),
       "holds true"},
      {"ShapeBeyondInt64",
       tensor(R"("dtype":"F32","shape":[9223372036854775808],"data_offsets":[0,4])"), "too large"},
      {"ShapeBeyondUint64",
       tensor(R"("dtype":"F32","shape":[18446744073709551617],"data_offsets":[0,4])"),
       "not a non-negative integer"},
      {"ShapeOverflowsToItsSize",  // 2^62 * 4 * 4 = 0 mod 2^64
       file(R"({"w":{"dtype":"F32","shape":[4611686018427387904,4],"data_offsets":[0,0]}})"),
       "too large"},
      {"EmptyShapeThatOverflows",
       file(R"({"w":{"dtype":"F32","shape":[0,4611686018427387904,4],"data_offsets":[0,0]}})"),
       "too large"},
      {"TooManyDimensions",
       tensor(R"("dtype":"F32","shape":[)" + repeated("1,", 64) + R"(1],"data_offsets":[0,4])"),
       "more than 64 dimensions"},
      {"OneOffset", tensor(R"("dtype":"F32","shape":[1],"data_offsets":[0])"), "1 numbers, not 2"},
      {"ThreeOffsets", tensor(R"("dtype":"F32","shape":[1],"data_offsets":[0,4,4])"),
       "3 numbers, not 2"},
      {"OffsetIsNegative", tensor(R"("dtype":"F32","shape":[1],"data_offsets":[-4,0])"),
       "a negative number"},
      {"OffsetIsAFraction", tensor(R"("dtype":"F32","shape":[1],"data_offsets":[0,4.5])"),
       "the number 4.5"},

      // The layout
      {"OffsetsInReverse", tensor(R"("dtype":"F32","shape":[1],"data_offsets":[4,0])"),
       "before it begins"},
      {"OffsetsBeyondTheData", tensor(R"("dtype":"F32","shape":[2],"data_offsets":[0,8])"),
       "which has only 4"},
      {"OffsetsThatOverflow",
       tensor(R"("dtype":"F32","shape":[1],)"
              R"("data_offsets":[18446744073709551612,18446744073709551615])"),
       "which has only 4"},
      {"DataCutOff", good.substr(0, good.size() - 1), "which has only 3"},
      {"ShapeLargerThanOffsets", tensor(R"("dtype":"F32","shape":[2],"data_offsets":[0,4])"),
       "needs 8 bytes"},
      {"ShapeSmallerThanOffsets", tensor(R"("dtype":"U8","shape":[3],"data_offsets":[0,4])"),
       "needs 3 bytes"},
      {"ScalarWithoutData", file(R"({"w":{"dtype":"F32","shape":[],"data_offsets":[0,0]}})"),
       "needs 4 bytes"},
      {"Overlap",
       two(R"("shape":[3],"data_offsets":[0,3])", R"("shape":[2],"data_offsets":[2,4])", 4),
       "tensor 'b' overlaps"},
      {"SameData",
       two(R"("shape":[4],"data_offsets":[0,4])", R"("shape":[4],"data_offsets":[0,4])", 4),
       "overlaps"},
      {"EmptyTensorInsideAnother",
       two(R"("shape":[4],"data_offsets":[0,4])", R"("shape":[0],"data_offsets":[2,2])", 4),
       "overlaps"},
      {"HoleInTheMiddle",
       two(R"("shape":[1],"data_offsets":[0,1])", R"("shape":[2],"data_offsets":[2,4])", 4),
       "bytes 1 to 2"},
      {"HoleAtTheStart", tensor(R"("dtype":"U8","shape":[3],"data_offsets":[1,4])"),
       "bytes 0 to 1"},
      {"BytesAtTheEnd", good + "x", "the last 1 bytes belong to no tensor"},
      {"DataWithoutTensors", file("{}", 4), "the last 4 bytes"},

      // The data
      {"TruthValueOfTwo",
       file(R"({"w":{"dtype":"BOOL","shape":[2],"data_offsets":[0,2]}})") + "\1\2", "not 0 or 1"},
  };
}

class SafetensorsBadFile : public testing::TestWithParam<BadFile> {};

TEST_P(SafetensorsBadFile, IsRefusedWithItsNameAndAReason) {
  const test::TemporaryFolder folder;
  write_file_atomically(folder / "bad", GetParam().bytes);
  try {
    const safetensors::File opened(folder / "bad");
    FAIL() << "the file was accepted";
  } catch (const Error& error) {
    const std::string message = error.what();
    EXPECT_NE(message.find(GetParam().complaint), std::string::npos) << message;
    EXPECT_TRUE(message.starts_with((folder / "bad").string() + ": ")) << message;
    EXPECT_LT(message.size(), 500u);
  }
}

INSTANTIATE_TEST_SUITE_P(All, SafetensorsBadFile, testing::ValuesIn(bad_files()),
                         [](const auto& bad) { return std::string(bad.param.name); });

TEST(SafetensorsBadFiles, MissingFileAndFolderAreNamed) {
  const test::TemporaryFolder folder;
  for (const auto& path : {folder / "none", folder.path()}) {
    try {
      const safetensors::File opened(path);
      FAIL() << "the file was accepted";
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(path.string()), std::string::npos) << error.what();
    }
  }
}

}  // namespace
}  // namespace tessera
