#include "image/png.h"

#include "fuzz/reading.h"
#include "fuzz/targets.h"

#include <zlib.h>

namespace tessera::fuzz {
namespace {

uint32_t big_endian_at(const std::string& bytes, size_t place) {
  uint32_t number = 0;
  for (size_t k = 0; k < 4; ++k) number = number << 8 | static_cast<uint8_t>(bytes[place + k]);
  return number;
}

// Gives the chunks the checksums they should have. Otherwise hardly any input gets past them.
std::string with_fitting_sums(std::string bytes) {
  constexpr size_t kSignature = 8, kFrame = 12;  // length, name and sum of a chunk
  for (size_t begin = kSignature; begin + kFrame <= bytes.size();) {
    const size_t length = big_endian_at(bytes, begin);
    if (length > bytes.size() - begin - kFrame) break;
    const auto sum = static_cast<uint32_t>(
        crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data() + begin + 4), length + 4));
    for (size_t k = 0; k < 4; ++k)
      bytes[begin + 8 + length + k] = static_cast<char>(sum >> (24 - 8 * k));
    begin += kFrame + length;
  }
  return bytes;
}

}  // namespace

void fuzz_png(std::string_view input) {
  attempt([&] { touch(image::decode_png(input, "input")); });
  const std::string mended = with_fitting_sums(std::string(input));
  attempt([&] {
    const at::Tensor picture = image::decode_png(mended, "input");
    const at::Tensor again = image::decode_png(image::encode_png(picture), "again");
    expect(again.equal(picture), "a picture that was written is read as it was");
  });
}

}  // namespace tessera::fuzz
