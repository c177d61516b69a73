#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "serve/service.h"

namespace tessera::serve {

// A language's code as it is compared: "EN_gb" is "en-gb".
std::string language_code(std::string_view code);

// The code without its region: "en" of "en-gb".
std::string_view base_language(std::string_view code);

// The English name: "German" of "de", "English (gb)" of "en-gb"; the code itself if it is unknown.
std::string language_name(std::string_view code);

// Whether a model translates texts, and is known to do so from one language to another.
bool knows_its_languages(const ModelFacts& model);

// Codes of all languages of models: first the sources, then those that are targets only.
std::vector<std::string> languages_of(const Service& service);

// Whether there is a model from exactly this language to that one.
bool translates(const Service& service, std::string_view source, std::string_view target);

}  // namespace tessera::serve
