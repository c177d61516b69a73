#pragma once

#include <string>
#include <string_view>

namespace tessera {

// Whether a text looks like a language's code of BCP 47: "de", "pt-BR", "zh-Hant".
bool is_language_code(std::string_view text);

// The same code without upper case, in which two spellings of it differ.
std::string lower_case_code(std::string_view code);

}  // namespace tessera
