#pragma once

#include "configuration_keys.h"
#include "declared_command.h"

#include <string>
#include <string_view>
#include <vector>

namespace tessera::app {

// What scripts for completion are made from.
struct Completable {
  DeclaredCommand program;
  std::vector<ConfigurationKey> recipe_keys, flow_keys;

  const std::vector<ConfigurationKey>& keys(KeysOf which) const {
    return which == KeysOf::flow ? flow_keys : recipe_keys;
  }
};

// Scripts that a shell reads to complete the program's command line. They need nothing but the
// shell, and start no program.
std::string bash_completion(const Completable& all);
std::string zsh_completion(const Completable& all);
std::string fish_completion(const Completable& all);

// The beginning of an explanation, short enough to stand beside a word.
std::string short_help(std::string_view help);

// Quoted for bash and zsh: 'it'\''s'.
std::string shell_quoted(std::string_view text);

// Texts with blanks between.
std::string with_blanks(const std::vector<std::string>& texts);

}  // namespace tessera::app
