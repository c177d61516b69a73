#include "value_form.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace tessera::app {
namespace {

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

bool is_upper(char c) {
  return std::isupper(static_cast<unsigned char>(c)) != 0;
}

// A word of a placeholder: "fast", "FILE.png", "cuda:N".
void read_word(std::string_view word, ValueForm& form, bool& any_file) {
  while (word.ends_with('.') || word.ends_with(',')) word.remove_suffix(1);
  if (word.empty()) return;
  if (word == "key=value") {
    form.keys = KeysOf::recipes;
  } else if (word == "flow.key=value") {
    form.keys = KeysOf::flow;
  } else if (is_one_of(word, {"FILE", "TSV", "SOURCE", "TARGET", "IMAGES"})) {
    form.files = any_file = true;
  } else if (is_one_of(word, {"DIR", "FOLDER", "RUN", "MODEL", "CORPUS"})) {
    form.folders = true;
  } else if (word == "RECIPE") {
    form.files = true;
    form.ending = "toml";
  } else if (word == "COMMAND") {
    form.commands = true;
  } else if (is_upper(word.front())) {  // "FILE.png", or "N": anything
    if (const size_t point = word.find('.'); point != word.npos) {
      form.files = true;
      form.ending = word.substr(point + 1);
    }
  } else if (word.find("..") == word.npos &&
             std::isalnum(static_cast<unsigned char>(word.front())) != 0) {
    // "cuda:N" begins with "cuda:".
    const size_t open = word.find_first_of("=:");
    form.words.emplace_back(word.substr(0, open == word.npos ? open : open + 1));
  }
}

}  // namespace

ValueForm value_form(std::string_view placeholder) {
  ValueForm form;
  bool any_file = false;
  while (!placeholder.empty()) {
    const size_t end = std::min(placeholder.find_first_of("| "), placeholder.size());
    read_word(placeholder.substr(0, end), form, any_file);
    placeholder.remove_prefix(std::min(end + 1, placeholder.size()));
  }
  if (any_file) form.ending.clear();
  return form;
}

}  // namespace tessera::app
