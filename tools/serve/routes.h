#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "serve/http_message.h"
#include "serve/refusal.h"
#include "serve/service.h"

namespace tessera::serve {

// One address of the server. Paths are exact; there are no parameters in them.
struct Route {
  std::string method, path;
  bool open = false;  // needs no token
  std::function<HttpResponse(const HttpRequest&)> answer;
  // How this interface words what went wrong; an interface has one for all of its routes.
  HttpResponse (*refused)(const Refusal& refusal) = nullptr;
  // The token in a body, for interfaces that send it there; empty: the header "Authorization".
  std::function<std::string(const HttpRequest&)> token = {};
};

// Limits of a single request.
struct RequestLimits {
  int64_t texts = 128;        // of a request
  int64_t characters = 5000;  // of a text
  bool key_required = false;  // clients are told that they need a token
};

// The interfaces, one file each.
std::vector<Route> own_routes(Service& service, const RequestLimits& limits);  // /v1
std::vector<Route> libretranslate_routes(Service& service, const RequestLimits& limits);
std::vector<Route> deepl_routes(Service& service, const RequestLimits& limits);
std::vector<Route> openai_image_routes(Service& service, const RequestLimits& limits);
std::vector<Route> page_routes(const Service& service);  // the web pages

}  // namespace tessera::serve
