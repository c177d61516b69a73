#pragma once

#include "declared_command.h"

#include <string>

namespace tessera::app {

// The manual page of the program with all commands, in roff with the macros of man(7).
std::string manual_page(const DeclaredCommand& program);

}  // namespace tessera::app
