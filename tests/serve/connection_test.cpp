#include "serve/http/connection.h"

#include <sys/socket.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include <array>
#include <string>

namespace tessera::serve {
namespace {

using namespace std::chrono_literals;

class ConnectionTest : public testing::Test {
 protected:
  ConnectionTest() { EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, sockets_.data()), 0); }
  ~ConnectionTest() override { close_client(); }

  void close_client() {
    if (sockets_[1] >= 0) ::close(sockets_[1]);
    sockets_[1] = -1;
  }

  std::array<int, 2> sockets_{};  // of the server, of the client
};

TEST_F(ConnectionTest, KnowsWhetherTheClientIsThere) {
  const Connection connection(sockets_[0], 1s);
  EXPECT_TRUE(connection.is_there());
  const std::string bytes(1 << 16, 'x');
  while (::send(sockets_[0], bytes.data(), bytes.size(), MSG_DONTWAIT) > 0) continue;
  EXPECT_TRUE(connection.is_there()) << "it reads slowly";
  close_client();
  EXPECT_FALSE(connection.is_there());
}

TEST_F(ConnectionTest, EndsWithoutLosingWhatItSent) {
  const std::string request(100'000, 'x'), answer = "too large";
  EXPECT_EQ(::send(sockets_[1], request.data(), request.size(), 0), 100'000);
  {
    Connection connection(sockets_[0], 1s);
    connection.write(answer.data(), answer.size());
  }
  char bytes[100];
  EXPECT_EQ(::recv(sockets_[1], bytes, sizeof bytes, 0), 9);
  EXPECT_EQ(::recv(sockets_[1], bytes, sizeof bytes, 0), 0) << "not a reset";
}

}  // namespace
}  // namespace tessera::serve
