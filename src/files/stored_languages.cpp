#include "files/stored_languages.h"

#include "base/language_code.h"
#include "base/require.h"

namespace tessera {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kLanguages = "languages";

std::string code_in(const Json& languages, const char* side) {
  const auto found = languages.find(side);
  const bool fits = found != languages.end() && found->is_string() &&
                    is_language_code(found->get_ref<const std::string&>());
  require(fits, "its languages have no code of the {} language", side);
  return lower_case_code(found->get<std::string>());
}

}  // namespace

void store_languages(Json& object, const Languages& languages) {
  if (languages.known())
    object[kLanguages] = {{"source", languages.source}, {"target", languages.target}};
}

Languages stored_languages(const Json& object) {
  const auto found = object.find(kLanguages);
  if (found == object.end() || found->is_null()) return {};
  require(found->is_object(), "its languages are not an object");
  return {code_in(*found, "source"), code_in(*found, "target")};
}

}  // namespace tessera
