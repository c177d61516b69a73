#pragma once

#include "value_form.h"

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace tessera::app {

// An option, or an argument without a dash.
struct DeclaredOption {
  std::vector<std::string> names;  // "-q", "--quiet"; of an argument, none
  std::string placeholder;         // "FILE"; empty: a flag, which takes no value
  std::string initial;             // its default, where the declaration says it; else empty
  std::string help;
  std::string group;      // heading that it stands under; "Options" usually
  bool required = false;  // the option must be given
  bool several = false;   // takes several values
  ValueForm form;
};

// A command of the program, or the program itself.
struct DeclaredCommand {
  std::string words;  // "bpe learn"; empty: the program itself
  std::string help, footer;
  std::vector<DeclaredOption> options, arguments;
  std::vector<DeclaredCommand> commands;

  std::string name() const { return words.substr(words.rfind(' ') + 1); }
};

// What was declared, as values: from it come the scripts for completion and the manual page.
DeclaredCommand declared(const CLI::App& program);

// All commands below a command, those without commands of their own and the others.
std::vector<const DeclaredCommand*> all_commands(const DeclaredCommand& program);

}  // namespace tessera::app
