#include <tessera/serve/server.h>

#include "serve/tiny_server.h"
#include "support/complaint.h"
#include "support/wait_until.h"

#include <tessera/base/error.h>

#include <gmock/gmock.h>

#include <fstream>
#include <future>
#include <sstream>
#include <thread>

namespace tessera::serve {
namespace {

using namespace std::chrono_literals;
using ::tessera::test::wait_until;
using test::body_of;
using test::exchange;
using test::RawClient;
using test::status_of;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;
using Json = nlohmann::json;

class ServerTest : public test::TinyServerTest {};

// The data of all events of a name.
std::vector<Json> events_of(const std::string& answer, const std::string& name) {
  std::vector<Json> found;
  std::istringstream lines(answer);
  std::string event;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("event: ")) event = line.substr(7);
    if (line.starts_with("data: ") && event == name) found.push_back(Json::parse(line.substr(6)));
  }
  return found;
}

TEST_F(ServerTest, TranslatesAsTheEngineDoes) {
  start();
  const Engine engine(folder_ / "letters", {.device = "cpu"});
  const std::vector<TextRequest> request{{.text = "a b c", .line = 0}};
  const TextResult expected = engine.run(request).front();
  const Json answer = json_of(post("/v1/translate", R"({"q":"a b c"})"));
  ASSERT_THAT(answer["results"], SizeIs(1));
  const Json& result = answer["results"][0];
  EXPECT_EQ(result["text"], expected.text);
  EXPECT_EQ(result["chosen"], expected.chosen);
  EXPECT_EQ(result["nfe"], expected.nfe);
  EXPECT_EQ(result["ranking"].get<std::vector<size_t>>(), expected.ranking);
  ASSERT_THAT(result["candidates"], SizeIs(expected.candidates.size()));
  EXPECT_NEAR(result["candidates"][1]["confidence"], expected.candidates[1].confidence, 1e-4);
  EXPECT_EQ(answer["model"], "letters");
  EXPECT_EQ(answer["batch_texts"], 1);
  EXPECT_GT(answer["compute_ms"], 0);
}

TEST_F(ServerTest, GivesATextTheSameTranslationInAFullBatch) {
  ServerOptions many = options();
  many.text_options.batch_tokens = 100'000;
  start(many);
  const Json alone = json_of(post("/v1/translate", R"({"q":"q w e","split":false})"));
  Json texts = Json::array();
  for (int k = 0; k < 40; ++k) texts.push_back(std::string(1, 'a' + k % 26) + " b c d");
  texts[17] = "q w e";
  const Json all = json_of(post("/v1/translate", Json{{"q", texts}, {"split", false}}.dump()));
  ASSERT_THAT(all["results"], SizeIs(40));
  EXPECT_EQ(all["results"][17]["text"], alone["results"][0]["text"]);
  EXPECT_GT(all["batch_texts"], 1);
}

TEST_F(ServerTest, TakesOptionsOfARequest) {
  start();
  const Json answer = json_of(post(
      "/v1/translate", R"({"q":"a b","model":"letters","steps":2,"candidates":"2x2","seed":9})"));
  EXPECT_EQ(answer["results"][0]["nfe"], 2);
  EXPECT_THAT(answer["results"][0]["candidates"], SizeIs(4));
  for (const char* body : {R"({})",
                           R"({"q":7})",
                           R"({"q":["a",1]})",
                           R"({"q":"a","steps":"x"})",
                           R"({"q":"a","steps":1000000})",
                           R"({"q":"a","steps":0})",
                           R"({"q":"a","candidates":65})",
                           R"({"q":"a","candidates":"0x1"})",
                           R"({"q":"a","candidates":"3x6148914691236517206"})",
                           R"({"q":"a","model":"none"})",
                           R"({"q":"a","model":"pictures"})",
                           R"({"q":"a","source":"fr","target":"en"})",
                           R"({"q":"a","seed":-1})",
                           R"({"q":"a","stepz":1})",
                           R"({"q":"a","selection":"rerank=x"})",
                           R"({"q":["a"],"stream":true})",
                           R"({"q":"a","beam":2})",
                           "[]",
                           "null",
                           "7"}) {
    const Json wrong = json_of(post("/v1/translate", body), 400);
    EXPECT_TRUE(wrong.contains("error")) << body;
  }
}

TEST_F(ServerTest, SplitsIntoSentences) {
  start();
  const Json answer = json_of(post("/v1/translate", R"({"q":["Ab cd. Ef gh.","a", "", "123"]})"));
  ASSERT_THAT(answer["results"], SizeIs(4));
  EXPECT_THAT(answer["results"][0]["sentences"], SizeIs(2));
  EXPECT_TRUE(answer["results"][1].contains("candidates"));
  EXPECT_EQ(answer["results"][2]["text"], "");
  EXPECT_EQ(answer["results"][3]["text"], "123");
}

TEST_F(ServerTest, StreamsStepsOfATranslation) {
  start();
  const std::string answer = post(
      "/v1/translate", R"({"q":"a b c","candidates":2,"steps":3,"split":false,"stream":true})");
  EXPECT_EQ(status_of(answer), 200);
  EXPECT_THAT(answer, HasSubstr("X-Accel-Buffering: no"));
  EXPECT_THAT(events_of(answer, "queued"), SizeIs(1));
  const auto begun = events_of(answer, "start");
  ASSERT_THAT(begun, SizeIs(1));
  EXPECT_EQ(begun[0]["steps"], 3);
  EXPECT_EQ(begun[0]["candidates"], 2);
  const auto steps = events_of(answer, "step");
  ASSERT_THAT(steps, SizeIs(3));
  EXPECT_EQ(steps[2]["step"], 3);
  const Json& row = steps[0]["rows"][1];
  EXPECT_THAT(steps[0]["rows"], SizeIs(2));
  EXPECT_EQ(row["pieces"].size(), row["glued"].get<std::string>().size());
  EXPECT_EQ(row["pieces"].size(), row["noisy"].size());
  const auto results = events_of(answer, "result");
  ASSERT_THAT(results, SizeIs(1));
  const Json plain =
      json_of(post("/v1/translate", R"({"q":"a b c","candidates":2,"steps":3,"split":false})"));
  EXPECT_EQ(results[0]["results"][0]["text"], plain["results"][0]["text"]);
  EXPECT_EQ(
      json_of(post("/v1/translate", R"({"q":"a","stream":true,"steps":0})"), 400).count("error"),
      1u)
      << "what is refused is no stream";
}

TEST_F(ServerTest, StreamsBeginWithTheOptionsInEffect) {
  ServerOptions few = options();
  few.text_options.steps = 2;
  few.text_options.lengths = 2;
  start(few);
  const std::string answer =
      post("/v1/translate", R"({"q":"a b","noises":3,"split":false,"stream":true})");
  const auto begun = events_of(answer, "start");
  ASSERT_THAT(begun, SizeIs(1));
  EXPECT_THAT(events_of(answer, "step"), SizeIs(begun[0]["steps"]));
  EXPECT_THAT(events_of(answer, "result").at(0)["results"][0]["candidates"],
              SizeIs(begun[0]["candidates"]));
  EXPECT_EQ(begun[0]["candidates"], 6);
}

TEST_F(ServerTest, MakesImages) {
  start();
  const Json answer = json_of(post("/v1/images", R"({"count":2,"label":"cat"})"));
  ASSERT_THAT(answer["images"], SizeIs(2));
  EXPECT_THAT(answer["images"][0].get<std::string>(), testing::StartsWith("iVBORw0KGgo"));
  EXPECT_NE(answer["images"][0], answer["images"][1]);
  EXPECT_EQ(answer["height"], 8);
  const Engine engine(folder_ / "pictures", {.device = "cpu"});
  const std::vector<ImageRequest> request{{.options = {.steps = 3}}};
  const int64_t calls = engine.run(request).front().nfe;
  EXPECT_EQ(answer["nfe"], calls);
  EXPECT_EQ(json_of(post("/v1/images", R"({"first":1,"label":"cat"})"))["images"][0],
            answer["images"][1]);
  const std::string stream = post("/v1/images", R"({"count":2,"label":"cat","stream":true})");
  ASSERT_THAT(events_of(stream, "step"), SizeIs(calls));
  EXPECT_THAT(events_of(stream, "step")[0]["images"], SizeIs(2));
  EXPECT_EQ(events_of(stream, "result").at(0)["images"], answer["images"]);
  for (const char* body :
       {R"({"count":0})", R"({"count":65})", R"({"count":1.5})", R"({"label":"dragon"})",
        R"({"label":7})", R"({"first":-1})", R"({"count":17,"stream":true})", R"({"guidance":"x"})",
        R"({"first":18446744073709551615})", R"({"model":"letters"})"})
    EXPECT_TRUE(json_of(post("/v1/images", body), 400).contains("error")) << body;
}

TEST_F(ServerTest, ListsModels) {
  start();
  const Json list = json_of(get("/v1/models"));
  EXPECT_EQ(list["object"], "list");
  ASSERT_THAT(list["data"], SizeIs(2));
  EXPECT_EQ(list["data"][0]["id"], "letters");
  EXPECT_EQ(list["data"][0]["languages"], (Json{{"source", "de"}, {"target", "en"}}));
  EXPECT_EQ(list["data"][0]["steps"], 4);
  EXPECT_EQ(list["data"][0]["candidates"], "1x3");
  EXPECT_EQ(list["data"][1]["kind"], "images");
  EXPECT_EQ(list["data"][1]["classes"], (Json{"cat", "dog"}));
}

TEST_F(ServerTest, TellsWhatFoldersSay) {
  const auto path = folder_ / "letters" / "config.json";
  Json config = Json::parse(std::ifstream(path));
  config["languages"] = {{"source", "fr"}, {"target", "pt-br"}};
  config["attribution"] = "made of letters";
  std::ofstream(path) << config;
  ServerOptions silent = options();
  silent.models[0].source = silent.models[0].target = "";
  start(silent);
  const Json model = json_of(get("/v1/models"))["data"][0];
  EXPECT_EQ(model["languages"], (Json{{"source", "fr"}, {"target", "pt-br"}}));
  EXPECT_EQ(model["attribution"], "made of letters");
  start();
  EXPECT_EQ(json_of(get("/v1/models"))["data"][0]["languages"]["source"], "de") << "as was said";
}

TEST_F(ServerTest, ServesAllInterfaces) {
  start();
  EXPECT_EQ(get("/").substr(9, 3), "200");
  EXPECT_THAT(get("/images"), HasSubstr("Content-Security-Policy"));
  EXPECT_EQ(json_of(get("/health"))["status"], "ok");
  EXPECT_EQ(json_of(get("/ready"))["status"], "ok");
  EXPECT_THAT(get("/metrics"), HasSubstr("tessera_model_info{model=\"letters\""));
  const Json libre = json_of(post("/translate", R"({"q":"a b c","source":"de","target":"en"})"));
  EXPECT_EQ(libre["translatedText"],
            json_of(post("/v1/translate", R"({"q":"a b c"})"))["results"][0]["text"]);
  EXPECT_THAT(
      json_of(post("/v2/translate", R"({"text":["a b"],"target_lang":"EN"})"))["translations"],
      SizeIs(1));
  EXPECT_THAT(json_of(post("/v1/images/generations", R"({"prompt":"cat"})"))["data"], SizeIs(1));
}

TEST_F(ServerTest, CanGoWithoutPages) {
  ServerOptions plain = options();
  plain.page = false;
  start(plain);
  EXPECT_EQ(status_of(get("/")), 404);
}

TEST_F(ServerTest, WantsItsToken) {
  ServerOptions closed = options();
  closed.token = "geheim";
  start(closed);
  for (const char* path : {"/", "/health", "/ready"}) EXPECT_EQ(status_of(get(path)), 200) << path;
  for (const char* path : {"/v1/models", "/metrics"}) EXPECT_EQ(status_of(get(path)), 401) << path;
  EXPECT_EQ(status_of(get("/v1/models", "Authorization: Bearer geheim\r\n")), 200);
  EXPECT_EQ(status_of(post("/v1/translate", R"({"q":"a"})")), 401);
  EXPECT_EQ(status_of(post("/translate", R"({"q":"a","source":"de","target":"en"})")), 403);
  EXPECT_EQ(
      status_of(post("/translate", R"({"q":"a","source":"de","target":"en","api_key":"geheim"})")),
      200);
  EXPECT_EQ(status_of(post("/v2/translate", R"({"text":["a"],"target_lang":"EN"})",
                           "Content-Type: application/json\r\n"
                           "Authorization: DeepL-Auth-Key geheim\r\n")),
            200);
}

TEST_F(ServerTest, IsForThisMachineAloneWithoutAToken) {
  start();
  const auto status = [&](const std::string& host) {
    RawClient client(server_->port());
    client.send("GET /v1/models HTTP/1.1\r\nConnection: close\r\nHost: " + host + "\r\n\r\n");
    return status_of(client.read_all());
  };
  EXPECT_EQ(status("127.0.0.1"), 200);
  EXPECT_EQ(status("evil.example"), 403);
  ServerOptions any = options();
  any.open = true;
  start(any);
  EXPECT_EQ(status("proxy.example"), 200);
}

TEST_F(ServerTest, LimitsTextsAndCharacters) {
  ServerOptions small = options();
  small.max_texts = 2;
  small.max_characters = 5;
  start(small);
  EXPECT_EQ(status_of(post("/v1/translate", R"({"q":["a","b"]})")), 200);
  EXPECT_EQ(status_of(post("/v1/translate", R"({"q":["a","b","c"]})")), 400);
  EXPECT_EQ(status_of(post("/v1/translate", "{\"q\":\"äöüßé\"}")), 200) << "characters, not bytes";
  EXPECT_EQ(status_of(post("/v1/translate", R"({"q":"a b c d"})")), 400);
}

TEST_F(ServerTest, EndsStreamsWhoseClientLeaves) {
  start();
  {
    RawClient client(server_->port());
    const std::string body =
        R"({"q":"a b c d e f","steps":100,"candidates":60,"split":false,"stream":true})";
    client.send("POST /v1/translate HTTP/1.1\r\nContent-Length: " + std::to_string(body.size()) +
                "\r\n\r\n" + body);
    client.read_until("event: step");
  }
  EXPECT_TRUE(wait_until([&] {
    const std::string text = get("/metrics");
    return text.find("tessera_abandoned_total 1\n") != std::string::npos &&
           text.find("tessera_streams 0\n") != std::string::npos;
  }));
}

TEST_F(ServerTest, EndsWorkWhoseClientLeaves) {
  start();
  const std::string body = R"({"count":64,"steps":1000})";
  {
    RawClient client(server_->port());
    client.send("POST /v1/images HTTP/1.1\r\nContent-Length: " + std::to_string(body.size()) +
                "\r\n\r\n" + body);
    EXPECT_TRUE(wait_until([&] {
      return get("/metrics").find("tessera_queue_seconds_count 1\n") != std::string::npos;
    }));
  }
  EXPECT_TRUE(wait_until(
      [&] { return get("/metrics").find("tessera_abandoned_total 1\n") != std::string::npos; }));
}

TEST_F(ServerTest, DrainsWithoutLosingAnything) {
  start();
  const int port = server_->port();
  const std::string body =
      R"({"q":"a b c d e f","steps":50,"candidates":40,"split":false,"stream":true})";
  auto stream =
      std::async(std::launch::async, [&] { return exchange(port, "POST", "/v1/translate", body); });
  EXPECT_TRUE(
      wait_until([&] { return get("/metrics").find("tessera_streams 1\n") != std::string::npos; }));
  auto drained = std::async(std::launch::async, [&] { return server_->drain({.linger = 300ms}); });
  EXPECT_TRUE(wait_until([&] { return status_of(get("/ready")) == 503; }));
  EXPECT_TRUE(drained.get());
  EXPECT_THAT(events_of(stream.get(), "result"), SizeIs(1));
}

TEST_F(ServerTest, CutsOffWhatTakesLongerThanTheDrain) {
  start();
  const int port = server_->port();
  const std::string body =
      R"({"q":"a b c d e f","steps":100,"candidates":60,"split":false,"stream":true})";
  std::vector<std::future<std::string>> streams;
  for (int k = 0; k < 8; ++k)
    streams.push_back(std::async(std::launch::async,
                                 [&] { return exchange(port, "POST", "/v1/translate", body); }));
  EXPECT_TRUE(
      wait_until([&] { return get("/metrics").find("tessera_streams 8\n") != std::string::npos; }));
  EXPECT_FALSE(server_->drain({.drain = 0ms}));
  size_t cut = 0;
  for (auto& stream : streams) cut += events_of(stream.get(), "error").size();
  EXPECT_GT(cut, 0u);
}

TEST_F(ServerTest, RefusesOptionsThatMakeNoSense) {
  const auto complaint = [](const ServerOptions& options) {
    return tessera::test::complaint([&] { Server{options}; });
  };
  ServerOptions wrong = options();
  wrong.host = "0.0.0.0";
  EXPECT_THAT(complaint(wrong), HasSubstr("--token-file"));
  wrong.host = "127.example.com";
  EXPECT_THAT(complaint(wrong), HasSubstr("--token-file"));
  wrong = options();
  wrong.token = "a%41";
  EXPECT_THAT(complaint(wrong), HasSubstr("'%'"));
  wrong = options();
  wrong.models.clear();
  EXPECT_THAT(complaint(wrong), HasSubstr("no model"));
  wrong = options();
  wrong.models[1] = wrong.models[0];
  EXPECT_THAT(complaint(wrong), HasSubstr("the name 'letters'"));
  wrong.models[1].name = "more";
  EXPECT_THAT(complaint(wrong), HasSubstr("both translate de to en"));
  wrong.models[0].name = "less";
  EXPECT_NO_THROW(Server{wrong});
  wrong = options();
  wrong.models[0].folder = folder_ / "nothing";
  EXPECT_THAT(complaint(wrong), HasSubstr("nothing"));
  wrong = options();
  wrong.text_options.steps = 1000;
  EXPECT_THAT(complaint(wrong), HasSubstr("steps"));
  wrong = options();
  wrong.text_options.beam = 3;
  EXPECT_THAT(complaint(wrong), HasSubstr("beam"));
  wrong = options();
  wrong.models.pop_back();
  wrong.image_options = {.guidance = 2};
  EXPECT_THAT(complaint(wrong), HasSubstr("no model here makes images"));
  wrong = options();
  wrong.models.erase(wrong.models.begin());
  wrong.text_options.candidates = "5";
  EXPECT_THAT(complaint(wrong), HasSubstr("no model here makes texts"));
  start();
  wrong = options();
  wrong.port = server_->port();
  EXPECT_THAT(complaint(wrong), HasSubstr("Address already in use"));
}

}  // namespace
}  // namespace tessera::serve
