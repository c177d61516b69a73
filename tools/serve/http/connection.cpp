#include "serve/http/connection.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace tessera::serve {

constexpr size_t kBufferBytes = 8192;
constexpr size_t kMostDiscarded = 64;  // buffers

Connection::Connection(int socket, std::chrono::milliseconds write_limit)
    : socket_(socket), write_limit_(write_limit) {}

Connection::~Connection() {
  ::shutdown(socket_, SHUT_WR);
  // A socket that is closed with bytes unread resets the connection, and the client loses what was
  // sent to it.
  buffer_.resize(kBufferBytes);
  for (size_t k = 0; k < kMostDiscarded; ++k)
    if (::recv(socket_, buffer_.data(), buffer_.size(), MSG_DONTWAIT) <= 0) break;
  ::close(socket_);
}

int Connection::wait(int events, Clock::time_point until) const {
  while (true) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()).count();
    pollfd waited{socket_, static_cast<short>(events), 0};
    const int found = ::poll(&waited, 1, static_cast<int>(std::clamp<int64_t>(left, 0, 1 << 30)));
    if (found > 0) return waited.revents;
    if (found < 0 && errno != EINTR) return POLLERR;
    if (found == 0 && Clock::now() >= until) return 0;
  }
}

bool Connection::wait_for_data(std::chrono::milliseconds wait_at_most) {
  if (taken_ < buffer_.size()) return true;
  return (wait(POLLIN, Clock::now() + wait_at_most) & POLLIN) != 0;
}

void Connection::begin_request(size_t most_bytes, Clock::time_point until) {
  allowed_ = most_bytes;
  until_ = until;
}

bool Connection::fill() {
  if (Clock::now() >= until_) return false;
  if ((wait(POLLIN, until_) & (POLLIN | POLLHUP)) == 0) return false;
  buffer_.resize(kBufferBytes);
  taken_ = 0;
  ssize_t count = 0;
  do {
    count = ::recv(socket_, buffer_.data(), buffer_.size(), 0);
  } while (count < 0 && errno == EINTR);
  buffer_.resize(static_cast<size_t>(std::max<ssize_t>(count, 0)));
  return count >= 0;
}

int64_t Connection::read(char* bytes, size_t size) {
  if (allowed_ == 0) return -1;
  if (taken_ == buffer_.size() && !fill()) return -1;
  const size_t count = std::min({size, buffer_.size() - taken_, allowed_});
  std::copy_n(buffer_.data() + taken_, count, bytes);
  taken_ += count;
  allowed_ -= count;
  return static_cast<int64_t>(count);
}

int64_t Connection::write(const char* bytes, size_t size) {
  size_t done = 0;
  while (done < size) {
    const int ready = wait(POLLOUT, Clock::now() + write_limit_);
    if ((ready & POLLOUT) == 0) return -1;
    const ssize_t count = ::send(socket_, bytes + done, size - done, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count > 0) done += static_cast<size_t>(count);
    if (count < 0 && errno != EINTR && errno != EAGAIN && errno != EWOULDBLOCK) return -1;
  }
  return static_cast<int64_t>(size);
}

bool Connection::is_there() const {
  return (wait(POLLRDHUP, Clock::now()) & (POLLRDHUP | POLLHUP | POLLERR)) == 0;
}

bool Connection::is_readable() const {
  return taken_ < buffer_.size() || wait(POLLIN, Clock::now()) != 0;
}

}  // namespace tessera::serve
