#pragma once

#include "text/tokenizer.h"

#include <string_view>

namespace tessera::engine {

// How a single symbol is written, and whether blanks stand around it.
struct SymbolText {
  std::string_view text;  // empty: the symbol does not stand for text; a mask is "□"
  bool blank_before = true, blank_after = true;
};

// The text lives as long as the tokenizer's dictionary.
SymbolText symbol_text(const text::Tokenizer& tokenizer, text::Id id);

}  // namespace tessera::engine
