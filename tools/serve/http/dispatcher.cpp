#include "serve/http/dispatcher.h"

#include "base/log.h"
#include "tensor/out_of_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <new>
#include <utility>

#include "serve/json_body.h"

namespace tessera::serve {
namespace {

RefusedBecause reason_of(const Refusal& refusal) {
  if (refusal.reason) return *refusal.reason;
  switch (refusal.status()) {
    case 401:
    case 403:
      return RefusedBecause::token;
    case 413:
      return RefusedBecause::size;
    case 429:
      return RefusedBecause::full;
    default:
      return refusal.status() >= 500 ? RefusedBecause::failure : RefusedBecause::invalid;
  }
}

std::string early_message(int status) {
  switch (status) {
    case 413:
      return "the body is too large";
    case 414:
      return "the address is too long";
    case 416:
      return "ranges are not served";
    case 503:
      return "there are too many connections";
    default:
      return "this is not a request the server can read";
  }
}

}  // namespace

HttpResponse plain_refusal(const Refusal& refusal) {
  nlohmann::ordered_json body{{"error", refusal.what()}};
  if (!refusal.hint().empty()) body["hint"] = refusal.hint();
  if (!refusal.field.empty()) body["field"] = refusal.field;
  return {.status = refusal.status(), .body = dump_json(body)};
}

Dispatcher::Dispatcher(std::vector<Route> routes, Admission admission, Metrics& metrics)
    : elsewhere_(metrics.add_route("none")), admission_(std::move(admission)), metrics_(metrics) {
  for (Route& route : routes) {
    Metrics::Route& counted = metrics.add_route(route.path);
    routes_[route.path].push_back({std::move(route), counted});
  }
}

HttpResponse Dispatcher::answer(const HttpRequest& request) {
  const auto begin = std::chrono::steady_clock::now();
  ++metrics_.in_flight;
  const auto found = routes_.find(request.path);
  Metrics::Route& counted = found == routes_.end() ? elsewhere_ : found->second.front().metrics;
  HttpResponse response;
  if (found == routes_.end()) {
    response = refuse(Refusal(404, "there is nothing at this address",
                              "the server's documentation lists its addresses"),
                      nullptr);
  } else {
    const std::vector<Known>& here = found->second;
    // A browser's HEAD is a GET whose body is left out.
    const std::string method = request.method == "HEAD" ? "GET" : request.method;
    const auto known =
        std::ranges::find(here, method, [](const Known& each) { return each.route.method; });
    if (known != here.end()) {
      response = answer_route(*known, request);
    } else {
      std::string allowed;
      for (const Known& each : here) allowed += each.route.method + ", ";
      allowed += "OPTIONS";
      if (method == "OPTIONS")
        response.status = 204;
      else
        response = refuse(Refusal(405, "this address takes other methods: " + allowed),
                          &here.front().route);
      response.headers.emplace_back("Allow", allowed);
    }
  }
  admission_.add_cors(request, response);
  --metrics_.in_flight;
  const auto status = static_cast<size_t>(std::clamp(response.status, 0, 599));
  ++counted.by_status[status];
  counted.seconds.add(
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  return response;
}

HttpResponse Dispatcher::refused_early(int status) {
  ++elsewhere_.by_status[static_cast<size_t>(std::clamp(status, 0, 599))];
  return refuse(Refusal(status, early_message(status)), nullptr);
}

HttpResponse Dispatcher::answer_route(const Known& known, const HttpRequest& request) {
  const Route& route = known.route;
  try {
    admission_.check(route, request);
    return route.answer(request);
  } catch (const Refusal& refusal) {
    return refuse(refusal, &route);
  } catch (const UsageError& error) {
    return refuse(Refusal(400, error.what(), error.hint()), &route);
  } catch (const JobStopped&) {
    Refusal refusal(503, "the server is shutting down, and the request was cut off");
    refusal.reason = RefusedBecause::draining;
    refusal.retry_after = std::chrono::seconds(5);
    return refuse(refusal, &route);
  } catch (const c10::Error& error) {
    return refuse(unforeseen(error.what_without_backtrace()), &route);
  } catch (const std::exception& error) {
    return refuse(unforeseen(error.what()), &route);
  }
}

Refusal Dispatcher::unforeseen(const std::string& what) {
  const uint64_t number = ++failures_;
  log::error("request failure {}: {}", number, what.substr(0, what.find('\n')));
  return Refusal(500, "something went wrong in the server",
                 fmt::format("its log has more under \"request failure {}\"", number));
}

HttpResponse Dispatcher::refuse(const Refusal& refusal, const Route* route) {
  metrics_.refused(reason_of(refusal));
  HttpResponse response = route != nullptr && route->refused != nullptr ? route->refused(refusal)
                                                                        : plain_refusal(refusal);
  if (refusal.retry_after)
    response.headers.emplace_back("Retry-After", std::to_string(refusal.retry_after->count()));
  if (response.status == 401) response.headers.emplace_back("WWW-Authenticate", "Bearer");
  return response;
}

}  // namespace tessera::serve
