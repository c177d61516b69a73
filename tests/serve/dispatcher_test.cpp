#include "serve/http/dispatcher.h"

#include "serve/http/local_name.h"

#include "serve/service.h"
#include "support/log_listener.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace tessera::serve {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Key;
using testing::Not;
using testing::Pair;

Route route(std::string path, std::function<HttpResponse(const HttpRequest&)> answer,
            bool open = false) {
  return {.method = "GET", .path = std::move(path), .open = open, .answer = std::move(answer)};
}

HttpResponse fine(const HttpRequest&) {
  return {.body = "fine"};
}

[[noreturn]] HttpResponse throw_refusal(const HttpRequest&) {
  Refusal refusal(429, "not now", "later");
  refusal.retry_after = std::chrono::seconds(7);
  throw refusal;
}

class DispatcherTest : public testing::Test {
 protected:
  Dispatcher dispatcher(const std::string& token = {}, std::vector<std::string> origins = {}) {
    std::vector<Route> routes{
        route("/", fine, true),
        route("/closed", fine),
        route("/full", throw_refusal),
        route(
            "/usage",
            [](const HttpRequest&) -> HttpResponse { throw UsageError("steps are few", "more"); }),
        route("/broken",
              [](const HttpRequest&) -> HttpResponse { throw std::runtime_error("a secret"); }),
        route("/stopped", [](const HttpRequest&) -> HttpResponse { throw JobStopped(); })};
    routes.push_back({.method = "POST",
                      .path = "/own",
                      .answer = fine,
                      .refused =
                          [](const Refusal& refusal) {
                            return HttpResponse{.status = refusal.status() == 401 ? 403 : 400,
                                                .body = std::string("own: ") + refusal.what()};
                          },
                      .token = [](const HttpRequest& request) { return request.body; }});
    return Dispatcher(std::move(routes), Admission(token, std::move(origins)), metrics_);
  }

  Metrics metrics_;
};

TEST_F(DispatcherTest, FindsRoutes) {
  Dispatcher all = dispatcher();
  EXPECT_EQ(all.answer({.path = "/"}).body, "fine");
  EXPECT_EQ(all.answer({.method = "HEAD", .path = "/"}).status, 200);
  EXPECT_EQ(all.answer({.path = "/nowhere"}).status, 404);
  EXPECT_EQ(all.answer({.path = "//"}).status, 404);
  const HttpResponse wrong = all.answer({.path = "/own"});
  EXPECT_EQ(wrong.status, 400) << "405, in the words of the route's interface";
  EXPECT_THAT(wrong.headers, Contains(Pair("Allow", "POST, OPTIONS")));
  EXPECT_EQ(all.answer({.method = "DELETE", .path = "/"}).status, 405);
  EXPECT_EQ(all.answer({.method = "OPTIONS", .path = "/own"}).status, 204);
}

TEST_F(DispatcherTest, WordsWhatGoesWrong) {
  Dispatcher all = dispatcher();
  const HttpResponse full = all.answer({.path = "/full"});
  EXPECT_EQ(full.status, 429);
  EXPECT_EQ(full.body, R"({"error":"not now","hint":"later"})");
  EXPECT_THAT(full.headers, Contains(Pair("Retry-After", "7")));
  const HttpResponse usage = all.answer({.path = "/usage"});
  EXPECT_EQ(usage.status, 400);
  EXPECT_THAT(usage.body, HasSubstr("steps are few"));
  const HttpResponse stopped = all.answer({.path = "/stopped"});
  EXPECT_EQ(stopped.status, 503);
  EXPECT_THAT(stopped.headers, Contains(Key("Retry-After")));
}

TEST_F(DispatcherTest, TellsTheUnforeseenToTheLogAlone) {
  Dispatcher all = dispatcher();
  const ::tessera::test::LogListener log;
  const HttpResponse broken = all.answer({.path = "/broken"});
  EXPECT_EQ(broken.status, 500);
  EXPECT_THAT(broken.body, Not(HasSubstr("secret")));
  EXPECT_THAT(broken.body, HasSubstr("request failure 1"));
  EXPECT_THAT(log.text(), HasSubstr("request failure 1: a secret"));
}

TEST_F(DispatcherTest, WantsTheToken) {
  Dispatcher all = dispatcher("geheim");
  const auto status = [&](const std::string& path, const std::string& authorization) {
    return all.answer({.path = path, .headers = {{"authorization", authorization}}}).status;
  };
  EXPECT_EQ(status("/", ""), 200) << "it is open";
  EXPECT_EQ(status("/closed", "Bearer geheim"), 200);
  EXPECT_EQ(status("/closed", "bearer  geheim"), 200);
  EXPECT_EQ(status("/closed", "DeepL-Auth-Key geheim"), 200);
  for (const char* wrong : {"", "geheim", "Bearer", "Bearer ", "Bearer gehei", "Bearer geheimx",
                            "Basic geheim", "Bearer GEHEIM", "Bearer geheim geheim"})
    EXPECT_EQ(status("/closed", wrong), 401) << wrong;
  EXPECT_THAT(all.answer({.path = "/closed"}).headers,
              Contains(Pair("WWW-Authenticate", "Bearer")));
  EXPECT_EQ(all.answer({.method = "POST", .path = "/own", .body = "geheim"}).status, 200);
  const HttpResponse own = all.answer({.method = "POST", .path = "/own", .body = "x"});
  EXPECT_EQ(own.status, 403);
  EXPECT_THAT(own.body, HasSubstr("own: "));
}

TEST_F(DispatcherTest, LetsPagesOfSomeOriginsAsk) {
  Dispatcher some = dispatcher("", {"https://a.example", "https://b.example"});
  const auto headers = [](Dispatcher& all, const char* method, const std::string& origin) {
    return all.answer({.method = method, .path = "/", .headers = {{"origin", origin}}}).headers;
  };
  EXPECT_THAT(headers(some, "GET", "https://b.example"),
              Contains(Pair("Access-Control-Allow-Origin", "https://b.example")));
  EXPECT_THAT(headers(some, "GET", "https://b.example"),
              Contains(Pair("Access-Control-Expose-Headers", "Retry-After")));
  EXPECT_THAT(headers(some, "OPTIONS", "https://a.example"),
              Contains(Key("Access-Control-Allow-Headers")));
  EXPECT_THAT(headers(some, "GET", "https://c.example"),
              Not(Contains(Key("Access-Control-Allow-Origin"))));
  Metrics more;
  Dispatcher all({route("/", fine)}, Admission("", {"*"}), more);
  EXPECT_THAT(headers(all, "GET", "null"), Contains(Pair("Access-Control-Allow-Origin", "*")));
}

TEST_F(DispatcherTest, RefusesPagesOfOtherSites) {
  Metrics metrics[3];
  Dispatcher local({route("/", fine, true), route("/closed", fine)}, Admission("", {}, true),
                   metrics[0]);
  Dispatcher open({route("/closed", fine)}, Admission("", {}), metrics[1]);
  Dispatcher cors({route("/closed", fine)}, Admission("", {"https://a.example"}, true), metrics[2]);
  using Headers = std::map<std::string, std::string>;
  const auto status = [](Dispatcher& all, const Headers& headers, const char* path = "/closed") {
    return all.answer({.path = path, .headers = headers}).status;
  };
  for (const char* site : {"cross-site", "same-site"}) {
    EXPECT_EQ(status(local, {{"sec-fetch-site", site}}), 403) << site;
    EXPECT_EQ(status(open, {{"sec-fetch-site", site}}), 403) << site;
    EXPECT_EQ(status(local, {{"sec-fetch-site", site}}, "/"), 200) << "a link to the page";
    EXPECT_EQ(status(cors, {{"sec-fetch-site", site}, {"origin", "https://a.example"}}), 200);
    EXPECT_EQ(status(cors, {{"sec-fetch-site", site}, {"origin", "https://b.example"}}), 403);
  }
  for (const char* site : {"same-origin", "none"})
    EXPECT_EQ(status(local, {{"sec-fetch-site", site}}), 200) << site;
  for (const char* origin : {"https://a.example", "null", "http://127.example.com"}) {
    EXPECT_EQ(status(local, {{"origin", origin}}), 403) << origin;
    EXPECT_EQ(status(open, {{"origin", origin}}), 200) << origin;
  }
  EXPECT_EQ(status(cors, {{"origin", "https://a.example"}}), 200);
  EXPECT_EQ(status(local, {{"origin", "http://localhost:8080"}}), 200);
  for (const char* host : {"localhost", "LOCALHOST:8080", "127.0.0.1:1", "[::1]:8080", ""})
    EXPECT_EQ(status(local, {{"host", host}}), 200) << host;
  for (const char* host : {"evil.example:8080", "localhost.evil.example", "[", "127.0.0.1.evil"}) {
    EXPECT_EQ(status(local, {{"host", host}}), 403) << host;
    EXPECT_EQ(status(open, {{"host", host}}), 200) << host;
  }
}

TEST(LocalName, IsThisMachine) {
  for (const char* name : {"localhost", "LocalHost", "127.0.0.1", "127.1.2.3", "::1"})
    EXPECT_TRUE(is_local_name(name)) << name;
  for (const char* name : {"", "127.example.com", "127.", "0.0.0.0", "::", "::2", "10.0.0.1"})
    EXPECT_FALSE(is_local_name(name)) << name;
}

TEST_F(DispatcherTest, CountsByRouteAndNeverByPath) {
  Dispatcher all = dispatcher();
  all.answer({.path = "/closed"});
  all.answer({.path = "/secret-path"});
  const std::string text = metrics_.text();
  EXPECT_THAT(text, HasSubstr("{route=\"/closed\",code=\"200\"} 1"));
  EXPECT_THAT(text, HasSubstr("{route=\"none\",code=\"404\"} 1"));
  EXPECT_THAT(text, Not(HasSubstr("secret-path")));
  EXPECT_EQ(metrics_.in_flight, 0);
}

TEST(Admission, ComparesAllOfAToken) {
  EXPECT_TRUE(equal_in_constant_time("abc", "abc"));
  for (const char* wrong : {"", "ab", "abd", "abcd", "abcabc"})
    EXPECT_FALSE(equal_in_constant_time(wrong, "abc")) << wrong;
  EXPECT_FALSE(equal_in_constant_time("", "")) << "an empty token opens nothing";
}

}  // namespace
}  // namespace tessera::serve
