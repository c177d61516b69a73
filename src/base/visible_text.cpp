#include "base/visible_text.h"

#include <fmt/format.h>

#include <cstdint>

namespace tessera {
namespace {

// A character and how many bytes it takes; 0 if there is none.
struct Decoded {
  uint32_t character = 0;
  size_t bytes = 0;
};

Decoded first_of(std::string_view text) {
  const auto byte = [&](size_t k) { return static_cast<uint8_t>(text[k]); };
  const uint8_t lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const size_t bytes = lead >= 0xf0 && lead < 0xf5   ? 4
                       : lead >= 0xe0 && lead < 0xf0 ? 3
                       : lead >= 0xc2 && lead < 0xe0 ? 2
                                                     : 0;
  if (bytes == 0 || text.size() < bytes) return {};
  uint32_t character = lead & (0xffU >> (bytes + 1));
  for (size_t k = 1; k < bytes; ++k) {
    if ((byte(k) & 0xc0) != 0x80) return {};
    character = character << 6 | (byte(k) & 0x3fU);
  }
  return {character, bytes};
}

bool is_control(uint32_t c) {
  if (c == '\n' || c == '\t') return false;
  return c < 0x20 || (c >= 0x7f && c < 0xa0) ||
         // Direction marks, which can make a text look like a different one.
         (c >= 0x202a && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
}

}  // namespace

std::string visible(std::string_view text) {
  std::string shown;
  shown.reserve(text.size());
  while (!text.empty()) {
    const auto [character, bytes] = first_of(text);
    if (bytes == 0)
      shown += fmt::format("\\x{:02x}", static_cast<uint8_t>(text.front()));
    else if (is_control(character) && character < 0x100)
      shown += fmt::format("\\x{:02x}", character);
    else if (is_control(character))
      shown += fmt::format("\\u{:04x}", character);
    else
      shown += text.substr(0, bytes);
    text.remove_prefix(bytes == 0 ? 1 : bytes);
  }
  return shown;
}

}  // namespace tessera
