#pragma once

#include <nlohmann/json.hpp>

#include <iostream>

namespace tessera::app {

// Prints a result on stdout. Names of files need not be UTF-8: invalid bytes become U+FFFD.
template <class Json>
void print_json(const Json& json) {
  std::cout << json.dump(2, ' ', false, Json::error_handler_t::replace) << '\n';
}

}  // namespace tessera::app
