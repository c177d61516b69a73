#include "serve/system_routes.h"

#include <fmt/format.h>

#include <utility>

namespace tessera::serve {
namespace {

HttpResponse state(int status, std::string_view word) {
  return {.status = status, .body = fmt::format("{{\"status\":\"{}\"}}", word)};
}

HttpResponse answer_ready(Readiness readiness) {
  switch (readiness) {
    case Readiness::loading:
      return state(503, "loading");
    case Readiness::busy:
      return state(503, "busy");
    case Readiness::draining:
      return state(503, "draining");
    case Readiness::ready:
      break;
  }
  return state(200, "ok");
}

}  // namespace

std::vector<Route> system_routes(std::function<Readiness()> readiness, const Metrics& metrics) {
  return {{.method = "GET",
           .path = "/health",
           .open = true,
           .answer = [](const HttpRequest&) { return state(200, "ok"); }},
          {.method = "GET",
           .path = "/ready",
           .open = true,
           .answer = [readiness = std::move(readiness)](
                         const HttpRequest&) { return answer_ready(readiness()); }},
          {.method = "GET", .path = "/metrics", .answer = [&metrics](const HttpRequest&) {
             return HttpResponse{.type = "text/plain; version=0.0.4; charset=utf-8",
                                 .body = metrics.text()};
           }}};
}

}  // namespace tessera::serve
