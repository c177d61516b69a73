#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tessera {

std::string with_commas(int64_t number);  // 1,234,567

// "1 image", "2 images"; give `several` if the plural is not `one` with an s.
std::string counted(int64_t number, std::string_view one, std::string_view several = {});

// "12345", "36.1 M": for the number of parameters of a model.
std::string short_count(int64_t number);

std::string duration_text(double seconds);  // "0:47", "12:05", "3:07:12", "2d 04:10:00"

}  // namespace tessera
