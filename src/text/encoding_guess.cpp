#include "text/encoding_guess.h"

#include "text/utf8.h"

#include <algorithm>
#include <cstddef>

namespace tessera::text {
namespace {

using Byte = unsigned char;

constexpr size_t kSampleBytes = 65536;
constexpr size_t kFewestNuls = 4;  // fewer count as damage

// UTF-16 without a byte-order mark: in plain letters every second byte is NUL.
std::string_view guess_by_nuls(std::string_view sample) {
  size_t nuls[2] = {0, 0};
  for (size_t k = 0; k < sample.size(); ++k)
    if (sample[k] == '\0') ++nuls[k % 2];
  const size_t half = sample.size() / 2;
  const auto many = [&](size_t count) { return count >= kFewestNuls && 5 * count >= 2 * half; };
  const auto few = [&](size_t count) { return 20 * count <= half; };
  if (few(nuls[0]) && many(nuls[1])) return "UTF-16LE";
  if (many(nuls[0]) && few(nuls[1])) return "UTF-16BE";
  return {};
}

// A letter of Latin-1 beyond ASCII, except two that hardly any language uses.
bool is_latin_letter(Byte c) {
  return c >= 0xC0 && c < 0xFE && c != 0xD7 && c != 0xF7;
}

// In Latin-1, letters with accents stand between plain ones. Encodings of other alphabets have
// whole words of high bytes, and damaged UTF-8 also has complete UTF-8 characters.
std::string_view guess_latin(std::string_view sample) {
  size_t letters = 0, others = 0, runs = 0, whole = 0;
  bool windows = false, inside = false;
  for (size_t k = 0; k < sample.size();) {
    const Byte c = sample[k];
    const bool high = c >= 0x80;
    if (high && !inside) ++runs;
    inside = high;
    const std::string_view character = sample.substr(k, code_point_size(sample, k));
    if (high && character.size() > 1 && find_invalid_utf8(character) == std::string_view::npos) {
      ++whole;
      k += character.size();
      continue;
    }
    if (high) ++(is_latin_letter(c) ? letters : others);
    windows = windows || (c >= 0x80 && c < 0xA0);
    ++k;
  }
  const bool alone = 2 * (letters + others) <= 3 * runs;
  if (letters == 0 || !alone || others > letters || 10 * whole > letters) return {};
  return windows ? "WINDOWS-1252" : "ISO-8859-1";
}

}  // namespace

std::string_view guess_encoding(std::string_view sample) {
  using namespace std::string_view_literals;
  sample = sample.substr(0, std::min(sample.size(), kSampleBytes));
  if (sample.starts_with("\xFF\xFE\0\0"sv) || sample.starts_with("\0\0\xFE\xFF"sv)) return "UTF-32";
  if (sample.starts_with("\xFF\xFE") || sample.starts_with("\xFE\xFF")) return "UTF-16";
  if (sample.find('\0') != std::string_view::npos) return guess_by_nuls(sample);
  return guess_latin(sample);
}

}  // namespace tessera::text
