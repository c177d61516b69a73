#pragma once

#include <tessera/base/api.h>

#include <string>
#include <string_view>

namespace tessera {

// The languages of a model that translates, as codes of BCP 47 in lower case: "de", "en", "pt-br".
struct Languages {
  std::string source = {}, target = {};  // both empty: unknown

  bool known() const { return !source.empty(); }
  bool operator==(const Languages&) const = default;
};

// "de:en". Throws UsageError for anything that is not two codes.
TESSERA_API Languages parse_languages(std::string_view text);

}  // namespace tessera
