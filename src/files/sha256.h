#pragma once

#include <string>
#include <string_view>

namespace tessera {

// SHA-256 (FIPS 180-4) as 64 hexadecimal digits, as `sha256sum` prints it: for files that are
// passed on. What only the program compares has a faster hash (files/hash.h).
std::string sha256(std::string_view bytes);

}  // namespace tessera
