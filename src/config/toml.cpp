#include "config/toml.h"

namespace tessera {

toml::table parse_toml(std::string_view text, const std::string& source) {
  return toml::parse(text, source);
}

}  // namespace tessera
