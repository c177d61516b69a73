#include "files/sha256.h"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

namespace tessera {
namespace {

constexpr size_t kBlock = 64;  // bytes

using Words = std::array<uint32_t, 64>;
using State = std::array<uint32_t, 8>;

// The first n primes.
template <size_t n>
std::array<uint64_t, n> primes() {
  std::array<uint64_t, n> found{};
  size_t count = 0;
  for (uint64_t number = 2; count < n; ++number) {
    bool prime = true;
    for (size_t k = 0; k < count && prime; ++k) prime = number % found[k] != 0;
    if (prime) found[count++] = number;
  }
  return found;
}

// The first 32 binary digits after the point of the square root (degree 2) or cube root (3).
uint32_t digits_of_root(uint64_t prime, int degree) {
  using Wide = unsigned __int128;
  const int shift = 32 * degree;
  uint64_t root = 0;  // of prime * 2^shift, rounded down
  for (int bit = 35; bit >= 0; --bit) {
    const Wide tried = root | uint64_t{1} << bit;
    const Wide power = degree == 2 ? tried * tried : tried * tried * tried;
    if (power <= Wide{prime} << shift) root = static_cast<uint64_t>(tried);
  }
  return static_cast<uint32_t>(root);  // the lower 32 bits: without what is before the point
}

// The constants of the rounds, from cube roots, and the first state, from square roots.
Words round_constants() {
  Words constants{};
  const auto of = primes<64>();
  for (size_t k = 0; k < of.size(); ++k) constants[k] = digits_of_root(of[k], 3);
  return constants;
}

State first_state() {
  State state{};
  const auto of = primes<8>();
  for (size_t k = 0; k < of.size(); ++k) state[k] = digits_of_root(of[k], 2);
  return state;
}

void add_block(State& state, const unsigned char* block) {
  static const Words constants = round_constants();
  Words words{};
  for (size_t k = 0; k < 16; ++k)
    words[k] = uint32_t{block[4 * k]} << 24 | uint32_t{block[4 * k + 1]} << 16 |
               uint32_t{block[4 * k + 2]} << 8 | block[4 * k + 3];
  for (size_t k = 16; k < words.size(); ++k) {
    const uint32_t a = words[k - 15], b = words[k - 2];
    words[k] = words[k - 16] + (std::rotr(a, 7) ^ std::rotr(a, 18) ^ a >> 3) + words[k - 7] +
               (std::rotr(b, 17) ^ std::rotr(b, 19) ^ b >> 10);
  }
  auto [a, b, c, d, e, f, g, h] = state;
  for (size_t k = 0; k < words.size(); ++k) {
    const uint32_t choice = (e & f) ^ (~e & g), majority = (a & b) ^ (a & c) ^ (b & c);
    const uint32_t first = h + (std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25)) + choice +
                           constants[k] + words[k];
    const uint32_t second = (std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22)) + majority;
    h = g, g = f, f = e, e = d + first;
    d = c, c = b, b = a, a = first + second;
  }
  const State change{a, b, c, d, e, f, g, h};
  for (size_t k = 0; k < state.size(); ++k) state[k] += change[k];
}

}  // namespace

std::string sha256(std::string_view bytes) {
  State state = first_state();
  const auto* data = reinterpret_cast<const unsigned char*>(bytes.data());
  const size_t whole = bytes.size() / kBlock * kBlock;
  for (size_t at = 0; at < whole; at += kBlock) add_block(state, data + at);
  // The rest, a bit that is set, zeros, and the number of bits in the last eight bytes.
  std::array<unsigned char, 2 * kBlock> end{};
  const size_t rest = bytes.size() - whole;
  if (rest > 0) std::memcpy(end.data(), data + whole, rest);
  end[rest] = 0x80;
  const size_t size = rest + 9 <= kBlock ? kBlock : 2 * kBlock;
  const uint64_t bits = uint64_t{bytes.size()} * 8;
  for (size_t k = 0; k < 8; ++k) end[size - 1 - k] = static_cast<unsigned char>(bits >> 8 * k);
  for (size_t at = 0; at < size; at += kBlock) add_block(state, end.data() + at);
  std::string text;
  for (const uint32_t word : state) text += fmt::format("{:08x}", word);
  return text;
}

}  // namespace tessera
