#include "serve/http/local_name.h"

#include <arpa/inet.h>

#include "serve/ascii.h"

namespace tessera::serve {

bool is_local_name(std::string_view host) {
  if (same_ascii(host, "localhost")) return true;
  if (host.find('\0') != std::string_view::npos) return false;
  const std::string address(host);
  unsigned char bytes[16];  // in the order of the network
  if (::inet_pton(AF_INET, address.c_str(), bytes) == 1) return bytes[0] == 127;
  if (::inet_pton(AF_INET6, address.c_str(), bytes) != 1) return false;
  return std::string_view(reinterpret_cast<const char*>(bytes), sizeof bytes) ==
         std::string(15, '\0') + '\1';
}

std::string_view host_of(std::string_view authority) {
  if (authority.starts_with('[')) return authority.substr(1, authority.find(']') - 1);
  return authority.substr(0, authority.find(':'));
}

}  // namespace tessera::serve
