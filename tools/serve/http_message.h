#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "serve/event_stream.h"

namespace tessera::serve {

// What a client asks, without anything of the HTTP library.
struct HttpRequest {
  std::string method = "GET";
  std::string path = "/";                              // without the query
  std::multimap<std::string, std::string> query = {};  // decoded
  std::map<std::string, std::string> headers = {};     // names in lower case
  std::string body = {};                               // at most --max-body bytes
  // Whether the client has left; valid until the request is answered. May be empty.
  std::function<bool()> gone = {};

  // The value of a header; empty: there is none.
  //   name  in lower case
  std::string_view header(const std::string& name) const {
    const auto found = headers.find(name);
    return found == headers.end() ? std::string_view() : std::string_view(found->second);
  }
};

struct HttpResponse {
  int status = 200;
  std::string type = "application/json";
  std::string body = {};
  std::vector<std::pair<std::string, std::string>> headers = {};
  // Instead of a body: events, sent as they come (text/event-stream).
  std::shared_ptr<EventStream> events = {};
};

}  // namespace tessera::serve
