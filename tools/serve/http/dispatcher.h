#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <map>
#include <string>
#include <vector>

#include "serve/http/admission.h"
#include "serve/http_message.h"
#include "serve/metrics.h"
#include "serve/routes.h"

namespace tessera::serve {

// Finds the route of a request, lets it answer, and words what goes wrong as its interface does.
// Threads may share one.
class Dispatcher {
 public:
  // Routes that come first win. The metrics must outlive it.
  Dispatcher(std::vector<Route> routes, Admission admission, Metrics& metrics);

  // Never throws; what is unforeseen is a 500 and a line in the log.
  HttpResponse answer(const HttpRequest& request);

  // For what the HTTP library refuses by itself, before there is a request.
  HttpResponse refused_early(int status);

 private:
  struct Known {
    Route route;
    Metrics::Route& metrics;
  };

  HttpResponse answer_route(const Known& known, const HttpRequest& request);
  HttpResponse refuse(const Refusal& refusal, const Route* route);
  Refusal unforeseen(const std::string& what);

  std::map<std::string, std::vector<Known>> routes_;  // by path
  Metrics::Route& elsewhere_;                         // counts what has no route
  Admission admission_;
  Metrics& metrics_;
  std::atomic<uint64_t> failures_{0};
};

// The wording of our own interface: {"error", "hint", "field"}.
HttpResponse plain_refusal(const Refusal& refusal);

}  // namespace tessera::serve
