#include "base/require.h"

#include "serve/http/http_server.h"

// For builds without cpp-httplib.
namespace tessera::serve {

struct HttpServer::State {};

bool http_server_is_built_in() {
  return false;
}

HttpServer::HttpServer(const HttpOptions&, HttpHandlers, Metrics&) {
  throw Error("this build of tessera has no HTTP server",
              "install cpp-httplib (libcpp-httplib-dev), then run CMake and build again");
}
HttpServer::~HttpServer() = default;

int HttpServer::port() const {
  return 0;
}
void HttpServer::start() {}
void HttpServer::close_connections() {}
bool HttpServer::finish(std::chrono::steady_clock::time_point) {
  return true;
}

}  // namespace tessera::serve
