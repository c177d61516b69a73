#include "command.h"

#include "manual_page.h"

#include <iostream>

namespace tessera::app {

void add_man(CLI::App& program) {
  CLI::App* man =
      program.add_subcommand("man", "print the manual page of the program, with all commands");
  man->footer(
      "An installed program has it where `man tessera` looks.\n"
      "  tessera man | man -l -");
  man->callback([&program] { std::cout << manual_page(declared(program)); });
}

}  // namespace tessera::app
