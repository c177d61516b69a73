#pragma once

#include <string>
#include <string_view>

namespace tessera::serve {

// Whether a host is this machine for itself alone: "localhost", an address 127.x.x.x, or "::1".
bool is_local_name(std::string_view host);

// The host of "host:port" or "[::1]:port", with or without a port.
std::string_view host_of(std::string_view authority);

}  // namespace tessera::serve
