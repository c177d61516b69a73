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

}  // namespace
}  // namespace tessera::serve
