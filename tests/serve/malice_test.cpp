// Requests that nobody sends who means well. The server must answer each, or close the connection,
// and go on; under the sanitizers, without an error of its own.

#include "serve/tiny_server.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

namespace tessera::serve {
namespace {

using test::RawClient;
using test::status_of;

struct Malice {
  const char* name;
  std::string bytes;
  std::vector<int> statuses;  // 0: the connection is closed without an answer
  bool end = true;            // the client sends no more, and says so
};

std::string post(const std::string& path, const std::string& body,
                 const std::string& headers = {}) {
  return "POST " + path + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n" + headers +
         "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}
std::string ask(const std::string& body) {
  return post("/v1/translate", body, "Content-Type: application/json\r\n");
}
std::string get(const std::string& target, const std::string& headers = {}) {
  return "GET " + target + " HTTP/1.1\r\nConnection: close\r\n" + headers + "\r\n";
}
std::string repeated(const std::string& text, int count) {
  std::string all;
  for (int k = 0; k < count; ++k) all += text;
  return all;
}

std::vector<Malice> all_malice() {
  using namespace std::string_literals;
  const std::string big(200'000, 'a');
  return {
      {"nothing", "", {0}},
      {"zeros", std::string(5000, '\0'), {0, 400}},
      {"binary", repeated("\xff\xfe\x80\x01\r\n", 2000), {0, 400}},
      {"a TLS greeting",
       "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"s + std::string(500, 'x'),
       {0, 400}},
      {"HTTP/2's preface", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", {0, 400}},
      {"an unknown method", "BREW / HTTP/1.1\r\n\r\n", {400}},
      {"CONNECT", "CONNECT evil:443 HTTP/1.1\r\n\r\n", {400}},
      {"TRACE", "TRACE / HTTP/1.1\r\n\r\n", {400}},
      {"an unknown version", "GET / HTTP/9.9\r\n\r\n", {400}},
      {"a line without an end", std::string(100'000, 'G'), {0, 400, 414}},
      {"a long address", get("/" + std::string(20'000, 'a')), {414}},
      {"an address of the longest kind", get("/" + std::string(8'000, 'a')), {404}},
      {"parent folders", get("/../../../../etc/passwd"), {404}},
      {"encoded parent folders", get("/%2e%2e/%2e%2e/etc/passwd%00"), {404}},
      {"broken percents", get("/%zz%u12%"), {404}},
      {"line ends in the address", get("/%0d%0aSet-Cookie:%20a=b"), {404}},
      {"a thousand parameters", get("/v1/models?" + repeated("a=b&", 1500)), {200}},
      {"many headers", get("/health", repeated("A: b\r\n", 50'000)), {0, 400}},
      {"a long header", get("/health", "A: " + std::string(50'000, 'x') + "\r\n"), {400}},
      {"a header without a name", get("/health", ": b\r\n"), {200, 400}},
      {"a folded header", get("/health", "A: b\r\n c\r\n"), {200, 400}},
      {"bare line feeds", "GET /health HTTP/1.1\nHost: x\n\n", {0, 400}},
      {"many ranges",
       get("/health", "Range: bytes=" + repeated("0-1,", 2000) + "0-1\r\n"),
       {200, 206, 416, 400}},
      {"a range of nonsense", get("/health", "Range: bytes=9-1,a\r\n"), {200, 416}},
      {"no length", "POST /v1/translate HTTP/1.1\r\nConnection: close\r\n\r\n{\"q\":\"a\"}", {400}},
      {"a negative length", "POST / HTTP/1.1\r\nContent-Length: -5\r\n\r\nabc", {400}},
      {"a length of letters", "POST / HTTP/1.1\r\nContent-Length: many\r\n\r\nabc", {400}},
      {"two lengths",
       "POST / HTTP/1.1\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd",
       {400}},
      {"a length beyond all",
       "POST / HTTP/1.1\r\nContent-Length: 99999999999999999999999\r\n\r\nabc",
       {400, 413}},
      {"a length of gigabytes", "POST / HTTP/1.1\r\nContent-Length: 9999999999\r\n\r\nabc", {413}},
      {"less than it says",
       "POST /v1/translate HTTP/1.1\r\nContent-Length: 500\r\n\r\n{\"q\":",
       {400}},
      {"chunks and a length",
       "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n0\r\n\r\n",
       {400}},
      {"a chunk of no number",
       "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nabc\r\n",
       {400}},
      {"a negative chunk",
       "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\nabc\r\n",
       {400, 413}},
      {"a chunk beyond all",
       "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\nabc\r\n",
       {400}},
      {"a chunk size without an end",
       "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n" + repeated("0", 500'000),
       {400, 413}},
      {"another encoding", "POST / HTTP/1.1\r\nTransfer-Encoding: gzip\r\n\r\nabc", {400}},
      {"no gzip", post("/v1/translate", "no gzip at all", "Content-Encoding: gzip\r\n"), {400}},
      {"no brotli", post("/v1/translate", "no brotli at all", "Content-Encoding: br\r\n"), {400}},
      {"a large body", ask("{\"q\":\"" + big + "\"}"), {413}},
      {"deep lists", ask("{\"q\":" + repeated("[", 40'000)), {400}},
      {"deep objects", ask(repeated("{\"a\":", 8'000)), {400}},
      {"half a JSON", ask("{\"q\":\"a"), {400}},
      {"JSON twice", ask("{\"q\":\"a\"}{\"q\":\"b\"}"), {400}},
      {"a NUL in JSON", ask("{\"q\":\"a\0b\"}"s), {400}},
      {"an escaped NUL", ask("{\"q\":\"a\\u0000b\"}"), {200}},
      {"half a surrogate", ask("{\"q\":\"\\ud800\"}"), {400}},
      {"no UTF-8", ask("{\"q\":\"\xff\xfe\"}"), {400}},
      {"UTF-8 that is too long", ask("{\"q\":\"\xc0\xaf\"}"), {400}},
      {"a number beyond all", ask("{\"q\":\"a\",\"steps\":1e999}"), {400}},
      {"steps without end", ask("{\"q\":\"a\",\"steps\":9223372036854775807}"), {400}},
      {"negative steps", ask("{\"q\":\"a\",\"steps\":-1}"), {400}},
      {"candidates without end", ask("{\"q\":\"a\",\"candidates\":\"9999999x99999999\"}"), {400}},
      {"a length without end", ask("{\"q\":\"a\",\"length\":\"99999999999999999999\"}"), {400}},
      {"texts without end", ask("{\"q\":[" + repeated("\"\",", 20'000) + "\"\"]}"), {400}},
      {"a folder as a model", ask("{\"q\":\"a\",\"selection\":\"rerank=/etc\"}"), {400}},
      {"combining marks", ask("{\"q\":\"a" + repeated("\xcc\x81", 3000) + "\"}"), {200}},
      {"line ends", ask("{\"q\":\"" + repeated("a.\\n", 1600) + "\"}"), {200}},
      {"images without end", post("/v1/images", "{\"count\":9223372036854775807}"), {400}},
      {"a form without a boundary",
       post("/translate", "--x", "Content-Type: multipart/form-data\r\n"),
       {400}},
      {"a form of boundaries",
       post("/translate", repeated("--x\r\n", 10'000),
            "Content-Type: multipart/form-data; boundary=x\r\n"),
       {400, 403}},
      {"a form of percents",
       post("/translate", repeated("%", 50'000),
            "Content-Type: application/x-www-form-urlencoded\r\n"),
       {400}},
      {"tags that do not end",
       post("/translate",
            "{\"q\":\"" + repeated("<", 4'900) +
                "\",\"source\":\"de\",\"target\":\"en\",\"format\":\"html\"}",
            "Content-Type: application/json\r\n"),
       {200}},
  };
}

class MaliceTest : public test::TinyServerTest {};

TEST_F(MaliceTest, HarmsNobody) {
  ServerOptions small = options();
  small.max_body = 100'000;
  start(small);
  for (const Malice& malice : all_malice()) {
    RawClient client(server_->port());
    client.send(malice.bytes);
    if (malice.end) client.end();
    const std::string answer = client.read_all();
    EXPECT_TRUE(client.closed()) << malice.name;
    EXPECT_THAT(malice.statuses, testing::Contains(status_of(answer)))
        << malice.name << ": " << answer.substr(0, 300);
    EXPECT_EQ(answer.find("\nSet-Cookie"), std::string::npos) << malice.name;
  }
  EXPECT_EQ(status_of(TinyServerTest::get("/health")), 200);
  EXPECT_EQ(status_of(TinyServerTest::post("/v1/translate", R"({"q":"a b"})")), 200);
}

TEST_F(MaliceTest, CannotGuessTheToken) {
  ServerOptions closed = options();
  closed.token = "geheim";
  start(closed);
  for (const std::string value : {"", "Bearer", "Bearer ", "Bearer x", "Basic Z2VoZWlt", "geheim",
                                  "Bearer geheim\x01", "DeepL-Auth-Key "})
    EXPECT_EQ(status_of(TinyServerTest::get("/v1/models", "Authorization: " + value + "\r\n")), 401)
        << value;
  EXPECT_EQ(status_of(TinyServerTest::get(
                "/v1/models", "Authorization: Bearer " + std::string(7000, 'x') + "\r\n")),
            401);
}

}  // namespace
}  // namespace tessera::serve
