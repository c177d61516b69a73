#include "serve/http/admission.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include "serve/refusal.h"

namespace tessera::serve {
namespace {

// "Bearer abc" -> "abc", for the schemes that clients of our interfaces use.
std::string_view token_of_header(std::string_view value) {
  const size_t blank = value.find(' ');
  if (blank == std::string_view::npos) return {};
  std::string scheme(value.substr(0, blank));
  std::ranges::transform(scheme, scheme.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
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

Admission::Admission(std::string token, std::vector<std::string> origins)
    : token_(std::move(token)), origins_(std::move(origins)) {}

void Admission::check(const Route& route, const HttpRequest& request) const {
  if (token_.empty() || route.open) return;
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
  const bool all = std::ranges::find(origins_, "*") != origins_.end();
  response.headers.emplace_back("Vary", "Origin");
  if (!all && std::ranges::find(origins_, origin) == origins_.end()) return;
  response.headers.emplace_back("Access-Control-Allow-Origin", all ? "*" : std::string(origin));
  if (request.method != "OPTIONS") return;
  response.headers.emplace_back("Access-Control-Allow-Methods", "GET, POST");
  response.headers.emplace_back("Access-Control-Allow-Headers", "Authorization, Content-Type");
  response.headers.emplace_back("Access-Control-Max-Age", "86400");
}

}  // namespace tessera::serve
