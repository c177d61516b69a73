#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

// The layout of a safetensors file, without tensors:
//   8 bytes     the length of the header, little-endian
//   the header  a JSON object, padded with spaces:
//               {"__metadata__":{"k":"v"},"w":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]}}
//   the data    of all tensors, one after the other, without gaps
namespace tessera::safetensors {

// In the order in which Python's writer stores tensors: large elements first, so that each tensor
// is aligned although there are no gaps.
enum class ElementType {
  u64,
  i64,
  f64,
  f32,
  u32,
  i32,
  bf16,
  f16,
  u16,
  i16,
  f8_e4m3,
  f8_e5m2,
  i8,
  u8,
  boolean,
};

uint64_t size_of(ElementType type);  // bytes

struct Entry {
  ElementType type = ElementType::f32;
  std::vector<int64_t> shape;
  uint64_t begin = 0;  // bytes, from the start of the data
  uint64_t end = 0;
};

struct Header {
  std::map<std::string, Entry> entries;
  std::map<std::string, std::string> metadata;
  size_t data_start = 0;  // bytes, from the start of the file
};

// Reads the header from the bytes of a whole file and checks it against the file's size: the
// returned entries lie within the data, cover it without gaps or overlaps, and each has the size
// that its shape and type require. Throws Error otherwise; the message does not name the file.
Header parse_header(std::string_view file);

// The bytes before the data. Sets begin and end of the tensors and data_start, and adds the names
// of the tensors to `order`, the order in which their data must follow. Throws Error for names that
// cannot be written.
std::string format_header(Header& header, std::vector<std::string>& order);

}  // namespace tessera::safetensors
