#pragma once

#include <tessera/base/languages.h>

#include <nlohmann/json.hpp>

namespace tessera {

// Languages as config.json and the manifests of corpora have them:
//   "languages": {"source": "de", "target": "en"}
// Adds them to a JSON object if they are known.
void store_languages(nlohmann::ordered_json& object, const Languages& languages);

// Reads them; unknown if the object has none. Throws Error for anything but two codes.
Languages stored_languages(const nlohmann::ordered_json& object);

}  // namespace tessera
