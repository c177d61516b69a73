#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

namespace tessera::serve {

// One client's connection, with limits on what it may send and how long it may take. What it sends
// ahead is kept for the next request.
class Connection {
 public:
  using Clock = std::chrono::steady_clock;

  //   socket  closed by the destructor
  Connection(int socket, std::chrono::milliseconds write_limit);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  int socket() const { return socket_; }

  // Waits until the client has sent something. False: it has left, or nothing came.
  bool wait_for_data(std::chrono::milliseconds wait);

  // A request begins: until it ends the client may send so many bytes, until then.
  void begin_request(size_t most_bytes, Clock::time_point until);
  // The body begins: so many more bytes.
  void allow(size_t more_bytes) { allowed_ += more_bytes; }

  // Bytes read; 0: the client has sent all; -1: an error, or beyond the limits.
  int64_t read(char* bytes, size_t size);
  // Bytes written, all of them; -1: the client has left, or does not take them.
  int64_t write(const char* bytes, size_t size);

  // Whether the client is there, though it may not take bytes right now.
  bool is_there() const;
  bool is_readable() const;

 private:
  // Waits for events of poll(). Returns those that came; 0: none before `until`.
  int wait(int events, Clock::time_point until) const;
  bool fill();

  int socket_;
  std::chrono::milliseconds write_limit_;
  Clock::time_point until_{};
  size_t allowed_ = 0;  // bytes the client may still send
  std::string buffer_ = {};
  size_t taken_ = 0;  // of the buffer
};

}  // namespace tessera::serve
