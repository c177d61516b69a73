#include "serve/http/admission.h"

#include <algorithm>
#include <utility>

#include "serve/ascii.h"
#include "serve/http/local_name.h"
#include "serve/refusal.h"

namespace tessera::serve {
namespace {

// "Bearer abc" -> "abc", for the schemes that clients of our interfaces use.
std::string_view token_of_header(std::string_view value) {
  const size_t blank = value.find(' ');
  if (blank == std::string_view::npos) return {};
  const std::string scheme = lower_ascii(value.substr(0, blank));
  if (scheme != "bearer" && scheme != "deepl-auth-key") return {};
  const size_t begin = value.find_first_not_of(' ', blank);
  return begin == std::string_view::npos ? std::string_view() : value.substr(begin);
}

}  // namespace

bool equal_in_constant_time(std::string_view given, std::string_view secret) {
  // An empty secret equals nothing.
  unsigned difference = given.size() == secret.size() && !secret.empty() ? 0 : 1;
  for (size_t k = 0; k < given.size(); ++k) {
    const char expected = secret.empty() ? '\0' : secret[k % secret.size()];
    difference |= static_cast<unsigned char>(given[k]) ^ static_cast<unsigned char>(expected);
  }
  return difference == 0;
}

Admission::Admission(std::string token, std::vector<std::string> origins, bool local_only)
    : token_(std::move(token)), origins_(std::move(origins)), local_only_(local_only) {}

bool Admission::names_origin(std::string_view origin) const {
  return std::ranges::any_of(
      origins_, [&](const std::string& each) { return each == "*" || each == origin; });
}

// A browser sends what a page asks for even if the page may not read the answer. A page whose name
// was made to lead to this machine may read it, too; then only the host tells.
void Admission::check_site(const HttpRequest& request) const {
  const std::string_view origin = request.header("origin"), host = request.header("host");
  const std::string_view site = request.header("sec-fetch-site");
  const size_t scheme = origin.find("://");
  const std::string_view page =
      scheme == std::string_view::npos ? origin : origin.substr(scheme + 3);
  const bool from_elsewhere = site == "cross-site" || site == "same-site" ||
                              (local_only_ && !origin.empty() && !is_local_name(host_of(page)));
  if (from_elsewhere && !names_origin(origin))
    throw Refusal(403, "pages of other sites may not use this server",
                  "start it with --cors and the page's origin");
  if (local_only_ && !host.empty() && !is_local_name(host_of(host)))
    throw Refusal(403, "this server is for its own machine, and the request names another host",
                  "ask for localhost, or start the server with a token or --open");
}

void Admission::check(const Route& route, const HttpRequest& request) const {
  if (route.open) return;
  check_site(request);
  if (token_.empty()) return;
  if (equal_in_constant_time(token_of_header(request.header("authorization")), token_)) return;
  if (route.token && equal_in_constant_time(route.token(request), token_)) return;
  Refusal refusal(401, "this server wants a token, and the request has none or a wrong one",
                  "send the header \"Authorization: Bearer TOKEN\"");
  refusal.reason = RefusedBecause::token;
  throw refusal;
}

void Admission::add_cors(const HttpRequest& request, HttpResponse& response) const {
  const std::string_view origin = request.header("origin");
  if (origin.empty() || origins_.empty()) return;
  const bool all = names_origin("*");
  response.headers.emplace_back("Vary", "Origin");
  if (!names_origin(origin)) return;
  response.headers.emplace_back("Access-Control-Allow-Origin", all ? "*" : std::string(origin));
  if (request.method != "OPTIONS") {
    response.headers.emplace_back("Access-Control-Expose-Headers", "Retry-After");
    return;
  }
  response.headers.emplace_back("Access-Control-Allow-Methods", "GET, POST");
  response.headers.emplace_back("Access-Control-Allow-Headers", "Authorization, Content-Type");
  response.headers.emplace_back("Access-Control-Max-Age", "86400");
}

}  // namespace tessera::serve
