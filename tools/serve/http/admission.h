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
  //   token       empty: none is wanted
  //   origins     of web pages that may ask from a browser ("https://example.org"); "*": all
  //   local_only  for this machine alone, without a token: pages that a browser shows here must not
  //               reach the server under a name of their own
  Admission(std::string token, std::vector<std::string> origins, bool local_only = false);

  bool needs_token() const { return !token_.empty(); }

  // Throws Refusal unless the route is open: 403 for a page of another site, 401 if a token is
  // wanted and the request does not have it.
  void check(const Route& route, const HttpRequest& request) const;

  // Adds the headers that let a browser hand the answer to the page that asked.
  void add_cors(const HttpRequest& request, HttpResponse& response) const;

 private:
  bool names_origin(std::string_view origin) const;
  void check_site(const HttpRequest& request) const;

  std::string token_;
  std::vector<std::string> origins_;
  bool local_only_;
};

// Whether both are equal, in a time that depends on the length of `given` alone.
bool equal_in_constant_time(std::string_view given, std::string_view secret);

}  // namespace tessera::serve
