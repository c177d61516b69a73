#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tessera::app {

// Which configuration keys a word "key=value" can have.
enum class KeysOf { nothing, recipes, flow };

// What the value of an option or argument can be, as far as the word that stands for it in help
// tells: "fast|balanced|best", "RUN|MODEL", "FILE.png", "RECIPE... key=value...".
struct ValueForm {
  std::vector<std::string> words;  // one that ends in '=' or ':' is the beginning of a value
  bool files = false;
  std::string ending;  // that the files have: "png"; empty: any
  bool folders = false;
  bool commands = false;  // the program's
  KeysOf keys = KeysOf::nothing;
  bool list = false;  // several of the words, with commas between
};

// Nothing where the placeholder says nothing: "N", "NAME".
ValueForm value_form(std::string_view placeholder);

}  // namespace tessera::app
