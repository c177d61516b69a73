#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "serve/http_message.h"
#include "serve/routes.h"

namespace tessera::serve {

// Who may use the server: those who know its token, and pages of some origins.
class Admission {
 public:
  //   token    empty: none is wanted
  //   origins  of web pages that may ask from a browser ("https://example.org"); "*": all
  Admission(std::string token, std::vector<std::string> origins);

  bool needs_token() const { return !token_.empty(); }

  // Throws Refusal (401) unless the request has the token, the route is open, or none is wanted.
  void check(const Route& route, const HttpRequest& request) const;

  // Adds the headers that let a browser hand the answer to the page that asked.
  void add_cors(const HttpRequest& request, HttpResponse& response) const;

 private:
  std::string token_;
  std::vector<std::string> origins_;
};

// Whether both are equal, in a time that depends on the length of `given` alone.
bool equal_in_constant_time(std::string_view given, std::string_view secret);

}  // namespace tessera::serve
