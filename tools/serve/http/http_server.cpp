#include "serve/http/http_server.h"

#include "base/log.h"
#include "base/require.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <fmt/format.h>
#include <httplib.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <limits>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <utility>

#include "serve/ascii.h"
#include "serve/http/connection.h"
#include "serve/http/thread_pool.h"

// cpp-httplib reads requests and writes answers. Connections, their threads, limits and times are
// ours: the library has no bound on the number of headers and on the time a request may take, and
// loses what a client sends ahead.
namespace tessera::serve {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr size_t kHeadBytes = 64 << 10;      // of a request line and its headers
constexpr uint64_t kDiscardBytes = 8 << 20;  // read beyond --max-body, to answer politely
constexpr milliseconds kGlance{250};         // how often a waiting thread looks around
constexpr seconds kSignOfLife{15};           // between two comments in a quiet stream
constexpr int kBacklog = 1024;               // connections that wait to be accepted

// A request under way, and how it was framed.
struct Exchange {
  Connection& connection;
  HttpRequest request = {};
  bool body = false;                    // the client sends one
  std::optional<uint64_t> length = {};  // of the body, if the client says
  bool framing_is_wrong = false;        // where the body ends is not clear
  bool http_1_0 = false;
  bool answered = false;    // by us, not by the library
  bool must_close = false;  // what follows on the connection cannot be trusted
};

// The library hands nothing of ours from the connection to the handler, but both are one thread.
thread_local Exchange* current = nullptr;
thread_local bool refusing = false;  // the connection is one too many

// What the library reads from and writes to.
class ClientStream : public httplib::Stream {
 public:
  explicit ClientStream(Connection& connection) : connection_(connection) {}

  bool is_readable() const override { return connection_.is_readable(); }
  // The library asks before it writes; write() waits for those who read slowly.
  bool is_writable() const override { return connection_.is_there(); }
  ssize_t read(char* bytes, size_t size) override { return connection_.read(bytes, size); }
  ssize_t write(const char* bytes, size_t size) override { return connection_.write(bytes, size); }
  void get_remote_ip_and_port(std::string&, int&) const override {}
  void get_local_ip_and_port(std::string&, int&) const override {}
  socket_t socket() const override { return connection_.socket(); }
  // Of later versions of the library.
  virtual bool wait_readable() const { return connection_.is_readable(); }
  virtual bool wait_writable() const { return connection_.is_there(); }
  virtual time_t duration() const { return 0; }

 private:
  Connection& connection_;
};

class Threads : public httplib::TaskQueue {
 public:
  //   ended  called when no more connections come
  Threads(size_t most, std::function<void()> ended) : pool_(most), ended_(std::move(ended)) {}

  // Later versions of the library return bool.
  using Taken = decltype(std::declval<httplib::TaskQueue&>().enqueue({}));

  Taken enqueue(std::function<void()> task) override {
    if (!pool_.run(task)) {
      refusing = true;
      task();
      refusing = false;
    }
    return static_cast<Taken>(true);
  }
  void shutdown() override {
    ended_();
    pool_.join();
  }

 private:
  ThreadPool pool_;
  std::function<void()> ended_;
};

// Takes a request over from the library, which then knows only that it has a body or not.
void take(httplib::Request& request, Exchange& exchange) {
  HttpRequest& ours = exchange.request;
  ours.method = request.method;
  ours.path = request.path;
  ours.query = {request.params.begin(), request.params.end()};
  for (const auto& [name, value] : request.headers) ours.headers.emplace(lower_ascii(name), value);
  ours.gone = [&connection = exchange.connection] { return !connection.is_there(); };
  exchange.http_1_0 = request.version == "HTTP/1.0";

  const size_t lengths = request.headers.count("Content-Length");
  const std::string length = request.get_header_value("Content-Length");
  const bool is_number = !length.empty() && length.size() <= 18 &&
                         length.find_first_not_of("0123456789") == std::string::npos;
  const size_t encodings = request.headers.count("Transfer-Encoding");
  const bool chunked =
      encodings == 1 && lower_ascii(request.get_header_value("Transfer-Encoding")) == "chunked";
  if (lengths > 0 && is_number) exchange.length = std::stoull(length);
  exchange.framing_is_wrong = lengths > 1 || (lengths == 1 && !is_number) || encodings > 1 ||
                              (encodings == 1 && (!chunked || lengths > 0 || exchange.http_1_0));
  exchange.body = chunked || exchange.length.value_or(0) > 0;
  // The library reads no body of a GET; Python's clients of DeepL send a form with one.
  if (exchange.body && ours.method == "GET") request.method = "POST";
  const bool reads_body = request.method == "POST" || request.method == "PUT" ||
                          request.method == "PATCH" || request.method == "DELETE";
  // A body that is not read would be taken for the next request. Of chunks only the library knows
  // where they ended, and it takes damaged ones for the last.
  exchange.must_close = exchange.framing_is_wrong || chunked || (exchange.body && !reads_body);

  request.path = "/";  // its patterns are regular expressions, which must not see long paths
  request.ranges.clear();
  for (const char* name : {"Range", "Content-Type", "Accept-Encoding"}) request.headers.erase(name);
}

}  // namespace

bool http_server_is_built_in() {
  return true;
}

struct HttpServer::State : httplib::Server {
  State(const HttpOptions& given, HttpHandlers handlers_, Metrics& metrics_)
      : options(given), handlers(std::move(handlers_)), metrics(metrics_) {
    new_task_queue = [this] {
      return new Threads(static_cast<size_t>(options.connections), [this] { end_accepting(); });
    };
    set_tcp_nodelay(true);
    set_socket_options([this](socket_t socket) {
      listener = socket;
      // Not SO_REUSEPORT, which is the library's own choice: a second server would start, and get
      // half of the connections.
      const int on = 1;
      ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    });
    set_payload_max_length(std::numeric_limits<size_t>::max());  // answer_with_body() has limits
    const auto without_body = [this](const httplib::Request&, httplib::Response& response) {
      write(handlers.answer(current->request), response);
    };
    const auto with_body = [this](const httplib::Request&, httplib::Response& response,
                                  const httplib::ContentReader& reader) {
      answer_with_body(reader, response);
    };
    Get("/", without_body).Options("/", without_body);
    Post("/", with_body).Put("/", with_body).Patch("/", with_body).Delete("/", with_body);
    set_expect_100_continue_handler([this](const httplib::Request&, httplib::Response& response) {
      const bool fits = !current->framing_is_wrong &&
                        current->length.value_or(0) <= static_cast<uint64_t>(options.max_body);
      response.status = fits ? -1 : 413;
      return fits ? 100 : 413;
    });
    set_error_handler(Handler([this](const httplib::Request&, httplib::Response& response) {
      if (current->answered) return;
      current->must_close = true;
      write(handlers.refused_early(response.status), response);
    }));
    set_post_routing_handler([](const httplib::Request&, httplib::Response& response) {
      response.headers.erase("Keep-Alive");
    });
  }

  void answer_with_body(const httplib::ContentReader& reader, httplib::Response& response) {
    Exchange& exchange = *current;
    const auto limit = static_cast<uint64_t>(options.max_body);
    uint64_t total = exchange.length.value_or(0);
    if (exchange.framing_is_wrong) return write(handlers.refused_early(400), response);
    bool complete = true;
    if (exchange.body && total > limit + kDiscardBytes) {
      complete = false;  // not worth reading
    } else if (exchange.body) {
      total = 0;
      exchange.connection.allow(limit + 2 * kDiscardBytes);
      complete = reader([&](const char* bytes, size_t size) {
        total += size;
        if (total <= limit) exchange.request.body.append(bytes, size);
        return total <= limit + kDiscardBytes;
      });
    }
    exchange.must_close |= !complete;
    if (total > limit) return write(handlers.refused_early(413), response);
    if (!complete) return write(handlers.refused_early(400), response);
    write(handlers.answer(exchange.request), response);
  }

  // Hands an answer to the library.
  void write(HttpResponse answer, httplib::Response& response) {
    Exchange& exchange = *current;
    exchange.answered = true;
    response.status = answer.status;
    response.headers.clear();
    for (const auto& [name, value] : answer.headers) response.headers.emplace(name, value);
    if (answer.events) {
      exchange.must_close |= exchange.http_1_0;
      write_events(std::move(answer.events), answer.type, response);
    } else if (answer.status != 204) {
      response.set_content(std::move(answer.body), answer.type.c_str());
    }
    exchange.must_close |= closing.load();
    if (exchange.must_close) response.headers.emplace("Connection", "close");
  }

  void write_events(std::shared_ptr<EventStream> events, const std::string& type,
                    httplib::Response& response) {
    ++metrics.streams;
    auto said = std::make_shared<Clock::time_point>(Clock::now());
    const auto provide = [events, said](size_t, httplib::DataSink& sink) {
      std::string text = events->take(kGlance);
      if (text.empty() && events->finished()) {
        sink.done();
        return true;
      }
      if (text.empty()) {
        if (Clock::now() - *said < kSignOfLife) return sink.is_writable();
        text = ": still here\n\n";
      }
      *said = Clock::now();
      return sink.write(text.data(), text.size());
    };
    const auto release = [this, events](bool) {
      events->abandon();
      --metrics.streams;
    };
    // Without a charset: a type with one would be compressed, and so held back.
    if (current->http_1_0)
      response.set_content_provider(type, provide, release);
    else
      response.set_chunked_content_provider(type, provide, release);
  }

  // The library accepts no more connections.
  void end_accepting() {
    if (finishing) return;
    lost = true;
    log::error("no connection can be accepted any more");
    if (handlers.lost) handlers.lost();
  }

  // Until the client sends a request. False: the connection is to be closed.
  bool wait_for_request(Connection& connection, bool is_first) {
    const auto begin = Clock::now();
    while (!connection.wait_for_data(kGlance)) {
      if (finishing || (closing && !is_first)) return false;
      const auto waited = Clock::now() - begin;
      const bool crowded = metrics.connections * 4 > options.connections * 3;
      if (waited > (is_first ? options.request : crowded ? kGlance : options.idle)) return false;
    }
    return true;
  }

  bool process_and_close_socket(socket_t socket) override {
    Connection connection(socket, options.write);
    const Open registered(*this, socket);
    const int on = 1;
    ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (refusing) return refuse(connection);
    ++metrics.connections;
    bool closed = false;
    for (bool is_first = true; !closed && wait_for_request(connection, is_first);
         is_first = false) {
      ++busy;
      // Both sides: finish() says so before it looks at `busy`.
      if (!finishing) closed = !serve_one(connection);
      const std::lock_guard lock(mutex);
      --busy;
      idle.notify_all();
      if (finishing) break;
    }
    --metrics.connections;
    return true;
  }

  // A connection whose socket others may shut down.
  struct Open {
    Open(State& state_, socket_t socket_) : state(state_), socket(socket_) {
      const std::lock_guard lock(state.mutex);
      state.open_sockets.insert(socket);
    }
    ~Open() {
      const std::lock_guard lock(state.mutex);
      state.open_sockets.erase(socket);
    }
    Open(const Open&) = delete;

    State& state;
    const socket_t socket;
  };

  // Reads a request and answers it. Returns whether another may follow.
  bool serve_one(Connection& connection) {
    Exchange exchange{connection};
    current = &exchange;
    connection.begin_request(kHeadBytes, Clock::now() + options.request);
    ClientStream stream(connection);
    bool closed = false;
    const bool done =
        process(*this, stream, closed, [&](httplib::Request& request) { take(request, exchange); });
    current = nullptr;
    return done && !closed && !exchange.must_close;
  }

  // The library's arguments differ between its versions.
  template <class Self>
  static bool process(Self& self, httplib::Stream& stream, bool& closed,
                      const std::function<void(httplib::Request&)>& setup) {
    if constexpr (requires { self.process_request(stream, false, closed, setup); })
      return self.process_request(stream, false, closed, setup);
    else
      return self.process_request(stream, "", 0, "", 0, false, closed, setup);
  }

  // One connection too many: answered without reading, in the thread that accepts.
  bool refuse(Connection& connection) {
    const HttpResponse answer = handlers.refused_early(503);
    const std::string text = fmt::format(
        "HTTP/1.1 503 Service Unavailable\r\nContent-Type: {}\r\nContent-Length: {}\r\n"
        "Retry-After: 1\r\nConnection: close\r\n\r\n{}",
        answer.type, answer.body.size(), answer.body);
    return connection.write(text.data(), text.size()) > 0;
  }

  const HttpOptions options;
  const HttpHandlers handlers;
  Metrics& metrics;
  socket_t listener = INVALID_SOCKET;
  int port = 0;
  std::thread accepting;
  std::atomic<bool> closing{false}, finishing{false}, lost{false};
  std::atomic<int64_t> busy{0};  // connections with a request under way
  std::mutex mutex;
  std::condition_variable idle;
  std::set<socket_t> open_sockets;  // guarded by the mutex
};

HttpServer::HttpServer(const HttpOptions& options, HttpHandlers handlers, Metrics& metrics)
    : state_(std::make_unique<State>(options, std::move(handlers), metrics)) {
  errno = 0;
  if (options.port == 0)
    state_->port = state_->bind_to_any_port(options.host);
  else if (state_->bind_to_port(options.host, options.port))
    state_->port = options.port;
  if (state_->port <= 0)
    throw Error(fmt::format("cannot listen on {}:{}: {}", options.host, options.port,
                            errno == 0 ? "no such address here" : std::strerror(errno)),
                "choose another --port (0: any that is free) or --host");
  ::listen(state_->listener, kBacklog);
}

HttpServer::~HttpServer() {
  finish(Clock::now());
  if (!state_->lost) state_->stop();  // the library has closed the port otherwise
  if (state_->accepting.joinable())
    state_->accepting.join();
  else
    ::close(state_->listener);
}

int HttpServer::port() const {
  return state_->port;
}

void HttpServer::start() {
  state_->accepting = std::thread([this] { state_->listen_after_bind(); });
  while (!state_->is_running() && !state_->lost) std::this_thread::yield();
}

void HttpServer::close_connections() {
  state_->closing = true;
}

bool HttpServer::finish(Clock::time_point limit) {
  state_->closing = state_->finishing = true;
  std::unique_lock lock(state_->mutex);
  const bool whole = state_->idle.wait_until(lock, limit, [&] { return state_->busy == 0; });
  if (!whole)
    for (const socket_t socket : state_->open_sockets) ::shutdown(socket, SHUT_RDWR);
  return whole;
}

}  // namespace tessera::serve
