#pragma once

#include <cstdint>
#include <string>

namespace tessera {

std::string with_commas(int64_t number);  // 1,234,567

}  // namespace tessera
