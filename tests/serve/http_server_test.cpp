#include "serve/http/http_server.h"

#include "serve/raw_client.h"
#include "support/log_listener.h"
#include "support/wait_until.h"

#include <tessera/base/error.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace tessera::serve {
namespace {

using namespace std::chrono_literals;
using ::tessera::test::wait_until;
using test::body_of;
using test::exchange;
using test::RawClient;
using test::status_of;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

// Answers with what it was asked.
class HttpServerTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!http_server_is_built_in()) GTEST_SKIP() << "there is no HTTP library";
  }

  int start(HttpOptions options = {}) {
    if (options.max_body == HttpOptions().max_body) options.max_body = 1000;
    server_.emplace(
        options,
        HttpHandlers{.answer = [this](const auto& request) { return answer(request); },
                     .refused_early =
                         [](int status) { return HttpResponse{.status = status, .body = "early"}; },
                     .lost = [this] { lost_ = true; }},
        metrics_);
    server_->start();
    return server_->port();
  }

  HttpResponse answer(const HttpRequest& request) {
    ++answered_;
    if (request.path == "/wait") {
      EXPECT_TRUE(wait_until([&] { return released_.load(); }));
    }
    if (request.path == "/large") return {.type = "text/plain", .body = std::string(64 << 20, 'x')};
    if (request.path == "/events") return {.type = "text/event-stream", .events = events_};
    std::string text = request.method + " " + request.path;
    for (const auto& [name, value] : request.query) text += " " + name + "=" + value;
    if (!request.body.empty()) text += " body=" + request.body;
    text += " type=" + std::string(request.header("content-type"));
    return {.type = "text/plain", .body = text};
  }

  Metrics metrics_;
  std::atomic<int> answered_{0};
  std::atomic<bool> released_{false}, lost_{false};
  std::shared_ptr<EventStream> events_ = std::make_shared<EventStream>();
  std::optional<HttpServer> server_;
};

TEST_F(HttpServerTest, HandsOverRequests) {
  const int port = start();
  EXPECT_EQ(body_of(exchange(port, "GET", "/a%20b?x=1&y=%C3%A4")), "GET /a b x=1 y=ä type=");
  EXPECT_EQ(
      body_of(exchange(port, "POST", "/p", "{\"q\":1}", "Content-Type: application/json\r\n")),
      "POST /p body={\"q\":1} type=application/json");
  EXPECT_EQ(body_of(exchange(port, "POST", "/p")), "POST /p type=") << "without a length";
  EXPECT_EQ(body_of(exchange(port, "DELETE", "/d", "x")), "DELETE /d body=x type=");
  EXPECT_EQ(body_of(exchange(port, "GET", "/g", "x")), "GET /g body=x type=");
  EXPECT_EQ(body_of(exchange(port, "HEAD", "/h")), "");
  const std::string chunked = exchange(
      port, "POST", "/c", "", "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n");
  EXPECT_EQ(body_of(chunked), "POST /c body=abcde type=");
}

TEST_F(HttpServerTest, TakesFormsOfAnySizeAsTheyAre) {
  const int port = start({.max_body = 100'000});
  const std::string form = "q=" + std::string(50'000, 'a');
  EXPECT_EQ(body_of(exchange(port, "POST", "/f", form,
                             "Content-Type: application/x-www-form-urlencoded\r\n")),
            "POST /f body=" + form + " type=application/x-www-form-urlencoded");
  const std::string parts =
      "--x\r\nContent-Disposition: form-data; name=\"q\"\r\n\r\nab\r\n--x--\r\n";
  EXPECT_EQ(body_of(exchange(port, "POST", "/m", parts,
                             "Content-Type: multipart/form-data; boundary=x\r\n")),
            "POST /m body=" + parts + " type=multipart/form-data; boundary=x");
}

TEST_F(HttpServerTest, KeepsConnectionsAndWhatIsSentAhead) {
  const int port = start();
  RawClient client(port);
  const std::string get = "GET /1 HTTP/1.1\r\nHost: h\r\n\r\n";
  client.send(get);
  EXPECT_THAT(client.read_until("type="), HasSubstr("GET /1"));
  client.send("POST /2 HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\nab" + get +
              "GET /3 HTTP/1.1\r\nConnection: close\r\n\r\n");
  const std::string all = client.read_all();
  EXPECT_THAT(all, HasSubstr("POST /2 body=ab"));
  EXPECT_THAT(all, HasSubstr("GET /1"));
  EXPECT_THAT(all, HasSubstr("GET /3"));
  EXPECT_TRUE(client.closed());
}

TEST_F(HttpServerTest, RefusesBodiesThatAreTooLarge) {
  const int port = start();
  EXPECT_EQ(status_of(exchange(port, "POST", "/", std::string(1000, 'x'))), 200);
  EXPECT_EQ(status_of(exchange(port, "POST", "/", std::string(1001, 'x'))), 413);
  RawClient kept(port);  // read to its end, so the connection goes on
  kept.send("POST / HTTP/1.1\r\nContent-Length: 1500\r\n\r\n" + std::string(1500, 'x'));
  EXPECT_EQ(status_of(kept.read_until("early")), 413);
  kept.send("GET /next HTTP/1.1\r\n\r\n");
  EXPECT_THAT(kept.read_until("type="), HasSubstr("GET /next"));
  RawClient huge(port);
  huge.send("POST / HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n");
  EXPECT_EQ(status_of(huge.read_all()), 413) << "without reading it";
  RawClient expecting(port);
  expecting.send("POST / HTTP/1.1\r\nContent-Length: 5000\r\nExpect: 100-continue\r\n\r\n");
  EXPECT_EQ(status_of(expecting.read_all()), 413);
  RawClient endless(port);
  endless.send("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n");
  for (int k = 0; k < 300; ++k) endless.send("10000\r\n" + std::string(65536, 'x') + "\r\n");
  EXPECT_EQ(status_of(endless.read_all()), 413);
  EXPECT_EQ(answered_, 2);
}

TEST_F(HttpServerTest, ClosesWhereABodyWouldBeTakenForARequest) {
  const int port = start();
  for (const std::string head :
       {"HEAD / HTTP/1.1\r\nContent-Length: 40\r\n", "OPTIONS / HTTP/1.1\r\nContent-Length: 40\r\n",
        "POST / HTTP/1.1\r\nContent-Length: 4x\r\n", "POST / HTTP/1.1\r\nContent-Length: -1\r\n",
        "POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n",
        "POST / HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n",
        "POST / HTTP/1.1\r\nTransfer-Encoding: gzip, chunked\r\n",
        "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n",
        "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n"}) {
    RawClient client(port);
    client.send(head + "\r\nGET /smuggled HTTP/1.1\r\nHost: h\r\n\r\n");
    const std::string all = client.read_all();
    EXPECT_THAT(all, Not(HasSubstr("smuggled"))) << head;
    EXPECT_THAT(all, HasSubstr("Connection: close")) << head;
    EXPECT_TRUE(client.closed()) << head;
  }
}

TEST_F(HttpServerTest, SendsEventsAsTheyCome) {
  const int port = start();
  RawClient client(port);
  client.send("GET /events HTTP/1.1\r\nAccept-Encoding: gzip, br\r\n\r\n");
  EXPECT_TRUE(wait_until([&] { return metrics_.streams == 1; }));
  events_->send("step", "1");
  EXPECT_THAT(client.read_until("data: 1\n\n"), HasSubstr("event: step\ndata: 1\n\n"));
  events_->send("result", "2");
  events_->close();
  EXPECT_THAT(client.read_until("0\r\n\r\n"), HasSubstr("event: result"));
  EXPECT_TRUE(wait_until([&] { return metrics_.streams == 0; }));
  client.send("GET /again HTTP/1.1\r\n\r\n");
  EXPECT_THAT(client.read_until("type="), HasSubstr("GET /again"));
}

TEST_F(HttpServerTest, StreamsToOldClientsWithoutChunks) {
  const int port = start();
  RawClient client(port);
  client.send("GET /events HTTP/1.0\r\n\r\n");
  events_->send("step", "1");
  events_->close();
  EXPECT_THAT(body_of(client.read_all()), "event: step\ndata: 1\n\n");
}

TEST_F(HttpServerTest, NoticesThatTheClientOfAStreamHasLeft) {
  const int port = start();
  {
    RawClient client(port);
    client.send("GET /events HTTP/1.1\r\n\r\n");
    client.read_until("\r\n\r\n");
  }
  EXPECT_TRUE(wait_until([&] { return events_->abandoned().stop_requested(); }));
}

TEST_F(HttpServerTest, EndsAStreamThatItsClientDoesNotRead) {
  const int port = start({.write = 300ms});
  RawClient client(port);
  client.take_little();
  client.send("GET /events HTTP/1.1\r\n\r\n");
  EXPECT_TRUE(wait_until([&] {
    events_->send("step", std::string(1 << 20, 'x'));
    return events_->abandoned().stop_requested();
  }));
}

TEST_F(HttpServerTest, DoesNotWaitForEverForSlowRequests) {
  const int port = start({.request = 500ms});
  const auto begin = std::chrono::steady_clock::now();
  RawClient silent(port), slow(port), half(port);
  slow.send("GET / HTTP/1.1\r\nHost:");
  half.send("POST / HTTP/1.1\r\nContent-Length: 10\r\n\r\nabc");
  std::thread drip([&] {
    for (int k = 0; k < 100 && !slow.closed(); ++k) {
      slow.send("x");
      std::this_thread::sleep_for(20ms);
    }
  });
  EXPECT_EQ(status_of(half.read_all()), 400);
  slow.read_all();
  silent.read_all();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 30s);
  EXPECT_TRUE(slow.closed() && silent.closed() && half.closed());
  drip.join();
  EXPECT_EQ(answered_, 0);
}

TEST_F(HttpServerTest, LimitsWhatARequestMayHave) {
  const int port = start();
  RawClient headers(port);
  headers.send("GET / HTTP/1.1\r\n");
  for (int k = 0; k < 20'000; ++k) headers.send("A: b\r\n");
  headers.send("\r\n");
  headers.read_all();
  EXPECT_TRUE(headers.closed());
  EXPECT_EQ(status_of(exchange(port, "GET", "/" + std::string(20'000, 'x'))), 414);
  EXPECT_EQ(answered_, 0);
}

TEST_F(HttpServerTest, RefusesConnectionsBeyondTheLimit) {
  const int port = start({.connections = 2});
  std::vector<std::thread> waiting;
  for (int k = 0; k < 2; ++k)
    waiting.emplace_back([port] { EXPECT_EQ(status_of(exchange(port, "GET", "/wait")), 200); });
  EXPECT_TRUE(wait_until([&] { return answered_ == 2; }));
  RawClient third(port);
  EXPECT_THAT(third.read_all(), StartsWith("HTTP/1.1 503 "));
  released_ = true;
  for (std::thread& each : waiting) each.join();
  EXPECT_TRUE(wait_until([&] { return metrics_.connections == 0; }));
  EXPECT_EQ(status_of(exchange(port, "GET", "/")), 200);
}

TEST_F(HttpServerTest, FinishesWhatHasBegun) {
  const int port = start();
  RawClient kept(port);
  kept.send("GET /kept HTTP/1.1\r\n\r\n");
  kept.read_until("type=");
  std::thread waiting([port] { EXPECT_EQ(status_of(exchange(port, "GET", "/wait")), 200); });
  EXPECT_TRUE(wait_until([&] { return answered_ == 2; }));
  server_->close_connections();
  EXPECT_THAT(exchange(port, "GET", "/late"), HasSubstr("Connection: close"));
  kept.read_all();
  EXPECT_TRUE(kept.closed()) << "nobody was served there";
  released_ = true;
  EXPECT_TRUE(server_->finish(std::chrono::steady_clock::now() + 60s));
  waiting.join();
}

TEST_F(HttpServerTest, CutsOffThoseWhoReadSlowlyAtTheEnd) {
  const int port = start({.write = 60s});
  RawClient trickling(port), silent(port);
  for (RawClient* each : {&trickling, &silent}) {
    each->take_little();
    each->send("GET /large HTTP/1.1\r\n\r\n");
  }
  EXPECT_TRUE(wait_until([&] { return answered_ == 2; }));
  std::atomic<bool> ended{false};
  std::thread drip([&] {
    for (int k = 0; k < 1500 && !ended; ++k) {
      trickling.read_some();
      std::this_thread::sleep_for(20ms);
    }
  });
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_FALSE(server_->finish(begin + 200ms));
  server_.reset();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 20s);
  ended = true;
  drip.join();
}

// The socket of this process that listens on a port.
int listener_of(int port) {
  for (int socket = 0; socket < 1024; ++socket) {
    int listens = 0;
    socklen_t size = sizeof listens;
    if (::getsockopt(socket, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) != 0 || !listens) continue;
    sockaddr_in address{};
    size = sizeof address;
    if (::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size) == 0 &&
        ntohs(address.sin_port) == port)
      return socket;
  }
  return -1;
}

TEST_F(HttpServerTest, SaysThatItLostItsPort) {
  const ::tessera::test::LogListener log;
  const int port = start();
  RawClient kept(port);
  kept.send("GET /1 HTTP/1.1\r\n\r\n");
  kept.read_until("type=");
  EXPECT_FALSE(lost_);
  ::shutdown(listener_of(port), SHUT_RDWR);
  EXPECT_TRUE(wait_until([&] { return lost_.load(); }));
  EXPECT_THAT(log.text(), HasSubstr("no connection can be accepted"));
  kept.send("GET /2 HTTP/1.1\r\n\r\n");
  EXPECT_THAT(kept.read_until("type="), HasSubstr("GET /2")) << "until the owner ends the server";
  EXPECT_TRUE(server_->finish(std::chrono::steady_clock::now() + 60s));
}

TEST_F(HttpServerTest, SaysThatAPortIsTaken) {
  const int port = start();
  try {
    HttpServer second({.port = port}, {}, metrics_);
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("Address already in use"));
    EXPECT_THAT(error.hint(), HasSubstr("--port"));
  }
  EXPECT_THROW(HttpServer({.host = "256.0.0.1"}, {}, metrics_), Error);
}

}  // namespace
}  // namespace tessera::serve
