#pragma once

#include <concepts>
#include <type_traits>

namespace tessera {

// How many parts of `size` are needed for `count` things; the last part may not be full.
//   count >= 0, size > 0
template <std::integral Integer>
constexpr Integer ceil_div(Integer count, std::type_identity_t<Integer> size) {
  return (count + size - 1) / size;
}

// The smallest multiple of `step` that is not below `value`.
//   value >= 0, step > 0
template <std::integral Integer>
constexpr Integer round_up(Integer value, std::type_identity_t<Integer> step) {
  return ceil_div(value, step) * step;
}

}  // namespace tessera
