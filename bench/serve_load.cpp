// Load for `tessera serve`: how many requests a second, and how long they take.
//
//   serve_load PORT|null CLIENTS SECONDS [BODY]
//
// `null` measures a server of this process whose model computes nothing: what HTTP, JSON, and the
// queue cost. BODY goes to /v1/translate.

#include "serve/engine_room.h"
#include "serve/http/admission.h"
#include "serve/http/dispatcher.h"
#include "serve/http/http_server.h"
#include "serve/metrics.h"
#include "serve/raw_client.h"
#include "serve/routes.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace tessera;
using tessera::serve::test::RawClient;
using SteadyClock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kPause{100};  // of a client that was refused

// A server whose model answers at once.
struct NullServer {
  serve::Metrics metrics;
  serve::EngineRoom room;
  serve::Dispatcher dispatcher;
  serve::HttpServer http;

  NullServer()
      : room(models(), {}, metrics),
        dispatcher(serve::own_routes(room, {}), serve::Admission({}, {}), metrics),
        http({},
             {.answer = [this](const auto& request) { return dispatcher.answer(request); },
              .refused_early = [this](int status) { return dispatcher.refused_early(status); }},
             metrics) {
    room.start();
    room.wait_until_ready();
    http.start();
  }

  static std::vector<serve::RoomModel> models() {
    std::vector<serve::RoomModel> models(1);
    models[0].facts.name = "null";
    models[0].prepare_text = [](TextRequest&) { return int64_t{1}; };
    models[0].run_texts = [](std::span<const TextRequest> requests) {
      return std::vector<TextResult>(requests.size());
    };
    return models;
  }
};

struct Seen {
  std::vector<double> milliseconds = {};  // of requests with status 200
  std::map<int, int64_t> statuses = {};
};

Seen ask(int port, const std::string& body, SteadyClock::time_point end) {
  Seen seen;
  std::optional<RawClient> client;
  const std::string request = fmt::format(
      "POST /v1/translate HTTP/1.1\r\nHost: x\r\nContent-Length: {}\r\n\r\n{}", body.size(), body);
  while (SteadyClock::now() < end) {
    if (!client) client.emplace(port);
    const auto begin = SteadyClock::now();
    client->send(request);
    std::string answer = client->read_until("\r\n\r\n");
    const size_t length = answer.find("Content-Length: ");
    if (length == std::string::npos) {
      ++seen.statuses[0];
      client.reset();
      continue;
    }
    const size_t head = answer.find("\r\n\r\n") + 4;
    const size_t size = head + static_cast<size_t>(std::atoll(answer.c_str() + length + 16));
    while (answer.size() < size && !client->closed()) answer += client->read_some();
    const int status = serve::test::status_of(answer);
    ++seen.statuses[status];
    if (status == 200)
      seen.milliseconds.push_back(
          std::chrono::duration<double, std::milli>(SteadyClock::now() - begin).count());
    if (status != 200) std::this_thread::sleep_for(kPause);
    if (answer.find("Connection: close") != std::string::npos) client.reset();
  }
  return seen;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    fmt::print(stderr, "usage: serve_load PORT|null CLIENTS SECONDS [BODY]\n");
    return 2;
  }
  std::optional<NullServer> null;
  if (std::string(argv[1]) == "null") null.emplace();
  const int port = null ? null->http.port() : std::atoi(argv[1]);
  const int clients = std::atoi(argv[2]);
  const double seconds = std::atof(argv[3]);
  const std::string body = argc > 4 ? argv[4] : R"({"q":"a b c d e f","split":false})";

  const auto end = SteadyClock::now() + std::chrono::milliseconds(static_cast<int>(1000 * seconds));
  std::mutex mutex;
  Seen all;
  std::vector<std::thread> threads;
  for (int k = 0; k < clients; ++k)
    threads.emplace_back([&] {
      const Seen seen = ask(port, body, end);
      const std::lock_guard lock(mutex);
      all.milliseconds.insert(all.milliseconds.end(), seen.milliseconds.begin(),
                              seen.milliseconds.end());
      for (const auto& [status, count] : seen.statuses) all.statuses[status] += count;
    });
  for (std::thread& thread : threads) thread.join();
  std::ranges::sort(all.milliseconds);
  const auto percentile = [&](double share) {
    if (all.milliseconds.empty()) return 0.0;
    const auto place = static_cast<size_t>(share * static_cast<double>(all.milliseconds.size()));
    return all.milliseconds[std::min(place, all.milliseconds.size() - 1)];
  };
  fmt::print("{} clients: {:.0f} requests/s, p50 {:.2f} ms, p99 {:.2f} ms;", clients,
             static_cast<double>(all.milliseconds.size()) / seconds, percentile(0.5),
             percentile(0.99));
  for (const auto& [status, count] : all.statuses) fmt::print(" {}: {}", status, count);
  fmt::print("\n");
  return 0;
}
