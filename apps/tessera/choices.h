#pragma once

#include <tessera/base/enum_names.h>

#include <string>

namespace tessera::app {

// The names of a choice as help shows them: "bpe|words|characters".
template <class E>
std::string choices() {
  std::string text;
  for (const auto& [value, name] : EnumNames<E>::values)
    text.append(text.empty() ? "" : "|").append(name);
  return text;
}

}  // namespace tessera::app
