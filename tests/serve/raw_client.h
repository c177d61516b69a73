#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <utility>

namespace tessera::serve::test {

// A TCP connection to this machine that sends whatever it is told to.
class RawClient {
 public:
  explicit RawClient(int port) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0)
      throw std::runtime_error("cannot connect");
  }
  ~RawClient() { ::close(socket_); }
  RawClient(const RawClient&) = delete;
  RawClient& operator=(const RawClient&) = delete;

  // Sends as much as the server takes.
  void send(const std::string& text) {
    size_t done = 0;
    while (done < text.size()) {
      pollfd ready{socket_, POLLOUT, 0};
      if (::poll(&ready, 1, 20'000) <= 0) return;
      const ssize_t count =
          ::send(socket_, text.data() + done, text.size() - done, MSG_NOSIGNAL | MSG_DONTWAIT);
      if (count <= 0) return;
      done += static_cast<size_t>(count);
    }
  }

  void end() { ::shutdown(socket_, SHUT_WR); }
  void take_little() {  // so that what the server sends soon has no room
    const int bytes = 2048;
    ::setsockopt(socket_, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
  }

  // What comes until the server closes the connection, or `text` was seen.
  std::string read_until(const std::string& text,
                         std::chrono::milliseconds limit = std::chrono::seconds(60)) {
    const auto end = std::chrono::steady_clock::now() + limit;
    while (text.empty() || seen_.find(text) == std::string::npos) {
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
          end - std::chrono::steady_clock::now());
      pollfd ready{socket_, POLLIN, 0};
      if (left.count() <= 0 || ::poll(&ready, 1, static_cast<int>(left.count())) <= 0) break;
      seen_ += read_some();
      if (closed_) break;
    }
    return std::exchange(seen_, {});
  }
  std::string read_all(std::chrono::milliseconds limit = std::chrono::seconds(60)) {
    return read_until("", limit);
  }
  // Some of what comes next.
  std::string read_some() {
    char bytes[4096];
    const ssize_t count = ::recv(socket_, bytes, sizeof bytes, 0);
    if (count <= 0) closed_ = true;
    return std::string(bytes, count > 0 ? static_cast<size_t>(count) : 0);
  }
  bool closed() const { return closed_; }

 private:
  int socket_;
  std::string seen_;
  std::atomic<bool> closed_{false};  // one thread may send while another reads
};

// One exchange on a connection of its own, which is closed afterwards.
inline std::string exchange(int port, const std::string& method, const std::string& path,
                            const std::string& body = {}, const std::string& headers = {}) {
  RawClient client(port);
  client.send(method + " " + path + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n" +
              headers +
              (body.empty() ? "" : "Content-Length: " + std::to_string(body.size()) + "\r\n") +
              "\r\n" + body);
  return client.read_all();
}

// 200 of "HTTP/1.1 200 OK"; 0: there is no such line.
inline int status_of(const std::string& answer) {
  return answer.starts_with("HTTP/1.1 ") ? std::atoi(answer.c_str() + 9) : 0;
}

inline std::string body_of(const std::string& answer) {
  const size_t end = answer.find("\r\n\r\n");
  return end == std::string::npos ? "" : answer.substr(end + 4);
}

}  // namespace tessera::serve::test
