#include "files/file_name.h"

#include "base/require.h"

namespace tessera {
namespace {

constexpr size_t kLongest = 255;  // bytes; NAME_MAX of common file systems

}  // namespace

bool is_plain_file_name(std::string_view name) {
  constexpr std::string_view kNowhere("/\0", 2);
  return !name.empty() && name.size() <= kLongest && name != "." && name != ".." &&
         name.find_first_of(kNowhere) == std::string_view::npos;
}

void require_file_name(std::string_view name, std::string_view what) {
  require(is_plain_file_name(name), "{} cannot be '{}': it becomes the name of a file", what, name);
}

}  // namespace tessera
