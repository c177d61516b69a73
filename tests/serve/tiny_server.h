#pragma once

#include "image_model/tiny_image_model.h"
#include "seq2seq/tiny_model.h"
#include "serve/raw_client.h"
#include "support/temporary_folder.h"

#include <tessera/serve/server.h>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <optional>
#include <string>

namespace tessera::serve::test {

// A server of tiny models with random weights: "letters" (de to en) and "pictures".
class TinyServerTest : public testing::Test {
 protected:
  TinyServerTest() {
    tessera::test::write_tiny_model(folder_ / "letters");
    tessera::test::write_tiny_image_model(folder_ / "pictures");
  }

  void SetUp() override {
    if (!Server::is_built_in()) GTEST_SKIP() << "there is no HTTP library";
  }

  ServerOptions options() const {
    ServerOptions options;
    options.models = {{.folder = folder_ / "letters", .source = "de", .target = "en"},
                      {.folder = folder_ / "pictures"}};
    options.load.device = "cpu";
    options.port = 0;
    options.image_options.steps = 3;
    return options;
  }

  Server& start(const ServerOptions& options) {
    server_.emplace(options);
    server_->start();
    return *server_;
  }
  Server& start() { return start(options()); }

  std::string get(const std::string& path, const std::string& headers = {}) const {
    return exchange(server_->port(), "GET", path, {}, headers);
  }
  std::string post(const std::string& path, const std::string& body,
                   const std::string& headers = "Content-Type: application/json\r\n") const {
    return exchange(server_->port(), "POST", path, body, headers);
  }
  // The JSON of an answer that should be well.
  static nlohmann::json json_of(const std::string& answer, int status = 200) {
    EXPECT_EQ(status_of(answer), status) << answer;
    return nlohmann::json::parse(body_of(answer), nullptr, /*allow_exceptions=*/false);
  }

  tessera::test::TemporaryFolder folder_;
  std::optional<Server> server_;
};

}  // namespace tessera::serve::test
