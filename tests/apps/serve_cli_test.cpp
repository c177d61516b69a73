#include "seq2seq/tiny_model.h"
#include "serve/raw_client.h"
#include "support/program.h"
#include "support/wait_until.h"

#include <tessera/serve/server.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <string>

namespace {

using tessera::serve::test::exchange;
using tessera::serve::test::RawClient;
using tessera::serve::test::status_of;
using tessera::test::file_text;
using tessera::test::wait_until;
using testing::AllOf;
using testing::HasSubstr;

class ServeCommand : public tessera::test::ProgramTest {
 protected:
  ServeCommand() { tessera::test::write_tiny_model(folder_ / "model"); }

  void SetUp() override {
    if (!tessera::Server::is_built_in()) GTEST_SKIP() << "there is no HTTP library";
  }

  // The port of a started server, once it is ready.
  int port() const {
    std::string address;
    EXPECT_TRUE(wait_until([&] {
      address = file_text(folder_ / "out-of-started");
      return address.ends_with('\n');
    })) << file_text(folder_ / "err-of-started");
    EXPECT_THAT(address, testing::StartsWith("http://127.0.0.1:"));
    return std::atoi(address.c_str() + address.rfind(':') + 1);
  }

  static constexpr const char* kServe = "--device cpu serve model --port 0 ";
};

TEST_F(ServeCommand, ServesUntilItIsAskedToEnd) {
  Running server = start(std::string(kServe) + "--languages de:en --steps 2");
  const int at = port();
  const std::string answer = exchange(at, "POST", "/v1/translate", R"({"q":"a b"})");
  EXPECT_EQ(status_of(answer), 200);
  EXPECT_THAT(answer, HasSubstr("\"nfe\":2"));
  EXPECT_THAT(exchange(at, "GET", "/languages"), HasSubstr("\"de\""));
  server.signal(SIGTERM);
  const auto result = server.wait();
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("signal 15"));
}

TEST_F(ServeCommand, TakesTheTokenFromAFileOrTheEnvironment) {
  write("token", "geheim\n");
  Running server = start(std::string(kServe) + "--token-file token");
  const int at = port();
  EXPECT_EQ(status_of(exchange(at, "GET", "/v1/models")), 401);
  EXPECT_EQ(status_of(exchange(at, "GET", "/v1/models", "", "Authorization: Bearer geheim\r\n")),
            200);
  server.signal(SIGINT);
  EXPECT_EQ(server.wait().status, 0);
  write("empty", "\n");
  expect_failure(std::string(kServe) + "--token-file empty", 1, HasSubstr("has no token"));
  const auto blank = run_in("TESSERA_TOKEN=' ' ", kServe);
  EXPECT_EQ(blank.status, 1);
  EXPECT_THAT(blank.err, HasSubstr("'TESSERA_TOKEN' has no token"));
}

TEST_F(ServeCommand, ASecondSignalEndsItAtOnce) {
  Running server = start(std::string(kServe) + "--linger 600");
  port();
  server.signal(SIGTERM);
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  server.signal(SIGTERM);
  EXPECT_EQ(server.wait().status, 128 + SIGTERM);
}

TEST_F(ServeCommand, SaysThatAPortIsTaken) {
  Running server = start(kServe);
  const std::string same = "--device cpu serve model --port " + std::to_string(port());
  expect_failure(same, 1, AllOf(HasSubstr("Address already in use"), HasSubstr("--port")));
}

TEST_F(ServeCommand, RefusesWhatMakesNoSense) {
  expect_failure("serve", 2, HasSubstr("models"));
  expect_failure("--device cpu serve model --host 0.0.0.0", 2,
                 AllOf(HasSubstr("0.0.0.0"), HasSubstr("--token-file")));
  expect_failure("--device cpu serve model a=model --port 0", 2, HasSubstr("languages"));
  expect_failure("--device cpu serve model model --port 0", 2, HasSubstr("two models"));
  expect_failure("--device cpu serve nothing --port 0", 1, HasSubstr("nothing"));
  expect_failure("--device cpu serve model --languages de --port 0", 2, HasSubstr("de:en"));
  expect_failure("--device cpu serve model --languages DE:en --port 0", 2, HasSubstr("DE:en"));
  expect_failure("--device cpu serve model --steps 1000 --port 0", 2, HasSubstr("steps"));
  expect_failure("--device cpu serve model --port 70000", 2, HasSubstr("70000"));
  expect_failure("--device cpu serve model --queue 0", 2, HasSubstr("--queue"));
  expect_failure("--device cpu serve model --token-file nothing", 2, HasSubstr("nothing"));
  std::filesystem::create_directory(folder_ / "run");
  write("run/config.toml", "");
  expect_failure("--device cpu serve run --port 0", 1, HasSubstr("run"));
}

}  // namespace
