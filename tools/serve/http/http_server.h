#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "serve/http_message.h"
#include "serve/metrics.h"

namespace tessera::serve {

struct HttpOptions {
  std::string host = "127.0.0.1";
  int port = 0;                               // 0: any that is free
  int64_t max_body = 1 << 20;                 // bytes
  int64_t connections = 256;                  // at a time
  std::chrono::milliseconds request{30'000};  // for a request to arrive, from its first byte
  std::chrono::milliseconds idle{60'000};     // a kept connection may be idle
  std::chrono::milliseconds write{10'000};    // a client may not take what is sent to it
};

// What a server does with requests. Called by many threads.
struct HttpHandlers {
  std::function<HttpResponse(const HttpRequest&)> answer;
  std::function<HttpResponse(int status)> refused_early;  // for what is not a request
  std::function<void()> lost = {};  // no connection can be accepted any more, before finish()
};

// Whether this build has an HTTP server.
bool http_server_is_built_in();

// HTTP/1.1 over TCP: a thread for every connection, up to a limit.
class HttpServer {
 public:
  // Takes the port. Throws Error if that cannot be done, or nothing is built in.
  HttpServer(const HttpOptions& options, HttpHandlers handlers, Metrics& metrics);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;

  int port() const;
  void start();

  // From now on every answer ends its connection.
  void close_connections();

  // Reads no new request. Returns when all that had begun are answered, or at `limit`, when all
  // connections are cut off. Returns whether none was.
  bool finish(std::chrono::steady_clock::time_point limit);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tessera::serve
