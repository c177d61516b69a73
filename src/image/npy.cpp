#include "image/npy.h"

#include "base/require.h"
#include "base/rounding.h"
#include "tensor/tensor_checks.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstring>
#include <regex>
#include <utility>

namespace tessera::image {
namespace {

static_assert(std::endian::native == std::endian::little,
              "arrays are written with the lowest byte first");

constexpr std::string_view kMagic("\x93NUMPY", 6);
constexpr size_t kAlignment = 64;  // of the elements, as NumPy does it
constexpr size_t kLongestHeader = 10000;

constexpr std::array<std::pair<at::ScalarType, std::string_view>, 4> kTypes{{
    {at::kByte, "|u1"},
    {at::kLong, "<i8"},
    {at::kFloat, "<f4"},
    {at::kDouble, "<f8"},
}};

std::string_view type_name(at::ScalarType type) {
  for (const auto& [known, name] : kTypes)
    if (known == type) return name;
  throw Error(
      fmt::format("an array of {} cannot be written, only uint8, int64, float32 and "
                  "float64",
                  c10::toString(type)));
}

// The first group that `pattern` matches in the header.
std::string field(const std::string& header, const char* name, const char* pattern) {
  std::smatch match;
  require(std::regex_search(header, match,
                            std::regex(fmt::format(R"(['"]{}['"]\s*:\s*{})", name, pattern))),
          "its header has no {} that could be read", name);
  return match[1];
}

std::vector<int64_t> parse_shape(const std::string& text) {
  std::vector<int64_t> shape;
  static const std::regex number(R"(\d+)");
  for (std::sregex_iterator each(text.begin(), text.end(), number), end; each != end; ++each) {
    const std::string digits = each->str();
    int64_t side = 0;
    const auto [last, failure] =
        std::from_chars(digits.data(), digits.data() + digits.size(), side);
    require(failure == std::errc{}, "its shape ({}) is too large", text);
    shape.push_back(side);
  }
  return shape;
}

// Checks the number of bytes, if the type's name tells the size of an element.
void check_size(const NpyHeader& header, size_t bytes) {
  const bool plain = header.type.size() == 3 && header.type[1] != 'U';  // U4: four characters
  const char digit = plain ? header.type.back() : '0';
  if (digit != '1' && digit != '2' && digit != '4' && digit != '8') return;
  int64_t needed = digit - '0';
  bool overflow = false;
  for (const int64_t side : header.shape)
    overflow = overflow || __builtin_mul_overflow(needed, side, &needed);
  require(!overflow && static_cast<uint64_t>(needed) == bytes,
          "its shape ({}) does not fit the {} bytes that follow the header",
          fmt::join(header.shape, ", "), bytes);
}

}  // namespace

NpyHeader parse_npy(std::string_view bytes) {
  require(bytes.starts_with(kMagic) && bytes.size() >= 12, "it is not a .npy file");
  // Version 1 gives the header's length in two bytes, later versions in four.
  const size_t counted_by = bytes[6] == 1 ? 2 : 4;
  uint32_t length = 0;
  std::memcpy(&length, bytes.data() + 8, counted_by);
  NpyHeader header;
  header.data_start = 8 + counted_by + length;
  require(length <= kLongestHeader && header.data_start <= bytes.size(),
          "its header is damaged or cut off");
  const std::string text(bytes.substr(8 + counted_by, length));
  header.type = field(text, "descr", R"(['"]([^'"]*)['"])");
  header.fortran_order = field(text, "fortran_order", "(True|False)") == "True";
  header.shape = parse_shape(field(text, "shape", R"(\(([\d,\sL]*)\))"));
  check_size(header, bytes.size() - header.data_start);
  return header;
}

NpyEncoder::NpyEncoder(at::ScalarType type, std::vector<int64_t> shape)
    : type_(type), shape_(std::move(shape)) {
  type_name(type_);
  require(!shape_.empty() &&
              std::all_of(shape_.begin(), shape_.end(), [](int64_t side) { return side >= 0; }),
          "an array that is written in batches needs at least one dimension, got [{}]",
          fmt::join(shape_, ", "));
}

std::string NpyEncoder::header() const {
  std::string text =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}{}), }}", type_name(type_),
                  fmt::join(shape_, ", "), shape_.size() == 1 ? "," : "");
  const size_t before = kMagic.size() + 4;
  const size_t whole = round_up(before + text.size() + 1, kAlignment);
  text.resize(whole - before - 1, ' ');
  text += '\n';
  std::string bytes(kMagic);
  bytes += {'\1', '\0', static_cast<char>(text.size() & 0xff), static_cast<char>(text.size() >> 8)};
  return bytes + text;
}

at::Tensor NpyEncoder::next(const at::Tensor& batch) {
  require_defined(batch, "batch");
  require_same_dtype(batch, type_, "batch");
  require(batch.dim() > 0, "a batch must have the rows as its first dimension");
  std::vector<int64_t> expected = shape_;
  expected.front() = batch.size(0);
  require_shape(batch, expected, "batch");
  require(batch.size(0) <= shape_.front() - rows_,
          "the array has {} rows: {} were written, {} more do not fit", shape_.front(), rows_,
          batch.size(0));
  rows_ += batch.size(0);
  return batch.detach().to(at::kCPU).contiguous();
}

void NpyEncoder::check_complete() const {
  require(rows_ == shape_.front(), "the array was to have {} rows, only {} were written",
          shape_.front(), rows_);
}

std::string_view bytes_of(const at::Tensor& contiguous) {
  return {static_cast<const char*>(contiguous.const_data_ptr()), contiguous.nbytes()};
}

NpyWriter::NpyWriter(const std::filesystem::path& path, at::ScalarType type,
                     std::vector<int64_t> shape)
    : encoder_(type, std::move(shape)), file_(path, Links::follow) {
  file_.write(encoder_.header());
}

void NpyWriter::append(const at::Tensor& batch) {
  file_.write(bytes_of(encoder_.next(batch)));
}

void NpyWriter::commit() {
  encoder_.check_complete();
  file_.commit();
}

}  // namespace tessera::image
