#include "serve/fake_translator.h"
#include "serve/interfaces/request_fields.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tessera::serve {
namespace {

using Json = nlohmann::json;
using test::FakeTranslator;
using test::form_request;
using test::json_request;
using test::Reply;
using test::reply_of;

class LibreTranslateTest : public testing::Test {
 protected:
  Reply post(const HttpRequest& request) {
    return reply_of(libretranslate_routes(service_, {.texts = 3, .characters = 30}), request);
  }
  Reply translate(const std::string& json) { return post(json_request("/translate", json)); }
  Reply get(const std::string& path) { return post({.method = "GET", .path = path}); }

  FakeTranslator service_;
};

struct LibreTranslateRow {
  const char* request;
  int status;
  const char* answer;
};

TEST_F(LibreTranslateTest, TranslatesJson) {
  for (const auto& [request, status, answer] : {
           LibreTranslateRow{R"({"q": "Hund", "source": "de", "target": "en"})", 200,
                             R"({"translatedText": "[Hund]"})"},
           LibreTranslateRow{
               R"({"q": ["Hund", "", "🙂"], "source": "DE", "target": "EN", "format": "text"})",
               200, R"({"translatedText": ["[Hund]", "", "🙂"]})"},
           LibreTranslateRow{R"({"q": ["Hund"], "source": "de", "target": "en"})", 200,
                             R"({"translatedText": ["[Hund]"]})"},
           LibreTranslateRow{R"({"q": [""], "source": "de", "target": "en", "alternatives": 2})",
                             200, R"({"translatedText": [""], "alternatives": [[]]})"},
           LibreTranslateRow{R"({"q": "Ja. Nein.", "source": "auto", "target": "en"})", 200,
                             R"({"translatedText": "[Ja.] [Nein.]",
                   "detectedLanguage": {"confidence": 0.0, "language": "de"}})"},
           LibreTranslateRow{R"({"q": ["Ja", "Nein"], "source": "auto", "target": "pt-BR"})", 200,
                             R"({"translatedText": ["[Ja]", "[Nein]"],
                   "detectedLanguage": [{"confidence": 0.0, "language": "de"},
                                        {"confidence": 0.0, "language": "de"}]})"},
           LibreTranslateRow{R"({"q": "Hund", "source": "de", "target": "en", "alternatives": 1})",
                             200, R"({"translatedText": "[Hund]", "alternatives": ["|Hund|"]})"},
           LibreTranslateRow{
               R"({"q": ["Hund", "12"], "source": "de", "target": "en", "alternatives": "5"})", 200,
               R"({"translatedText": ["[Hund]", "12"],
                   "alternatives": [["|Hund|", "{Hund}"], []]})"},
           LibreTranslateRow{R"({"q": "Hund", "source": "de", "target": "en", "alternatives": -3})",
                             200, R"({"translatedText": "[Hund]"})"},
           LibreTranslateRow{
               R"({"q": "<p>Ein &amp; <b>zwei", "source": "de", "target": "en", "format": "html"})",
               200, R"({"translatedText": "<p>[Ein &amp;] <b>[zwei]"})"},
           LibreTranslateRow{R"({"q": "<p>Ein", "source": "de", "target": "en", "format": ""})",
                             200, R"({"translatedText": "[<p>Ein]"})"},
           LibreTranslateRow{R"({"q": "שלום \u0000 مرحبا", "source": "fr", "target": "en"})", 200,
                             R"({"translatedText": "[שלום \u0000 مرحبا]"})"},
       }) {
    const Reply reply = translate(request);
    EXPECT_EQ(reply.status, status) << request;
    EXPECT_EQ(reply.body, Json::parse(answer)) << request;
  }
}

TEST_F(LibreTranslateTest, SaysWhatIsWrong) {
  for (const auto& [request, status, answer] : {
           LibreTranslateRow{R"({"source": "de", "target": "en"})", 400,
                             "Invalid request: missing q parameter"},
           LibreTranslateRow{R"({"q": "", "source": "de", "target": "en"})", 400,
                             "Invalid request: missing q parameter"},
           LibreTranslateRow{R"({"q": [], "source": "de", "target": "en"})", 400,
                             "Invalid request: missing q parameter"},
           LibreTranslateRow{R"({"q": "Hund", "target": "en"})", 400,
                             "Invalid request: missing source parameter"},
           LibreTranslateRow{R"({"q": "Hund", "source": "de", "target": null})", 400,
                             "Invalid request: missing target parameter"},
           LibreTranslateRow{R"({"q": "Hund", "source": "de", "target": "zz"})", 400,
                             "zz is not supported"},
           LibreTranslateRow{R"({"q": "Hund", "source": "de", "target": "\u0000x"})", 400,
                             "\\x00x is not supported"},
           LibreTranslateRow{R"({"q": "Hund", "source": "ZZ", "target": "en"})", 400,
                             "zz is not supported"},
           LibreTranslateRow{R"({"q": "Hund", "source": "de", "target": "en", "format": "xml"})",
                             400, "xml format is not supported"},
           LibreTranslateRow{
               R"({"q": "Hund", "source": "de", "target": "en", "alternatives": "x"})", 400,
               "Invalid request: alternatives parameter is not a number"},
           LibreTranslateRow{
               R"({"q": "Hund", "source": "fr", "target": "pt-br"})", 400,
               "Portuguese (br) (pt-br) is not available as a target language from French (fr)"},
           LibreTranslateRow{R"({"q": "Hund", "source": "auto", "target": "de"})", 400,
                             "German (de) is not available as a target language from German (de)"},
           LibreTranslateRow{R"({"q": ["a", "b", "c", "d"], "source": "de", "target": "en"})", 400,
                             "Invalid request: request (4) exceeds text limit (3)"},
           LibreTranslateRow{
               R"({"q": "äöüäöüäöüäöüäöüäöüäöüäöüäöüäöüx", "source": "de", "target": "en"})", 400,
               "Invalid request: request (31) exceeds text limit (30)"},
           LibreTranslateRow{R"({"q": 5, "source": "de", "target": "en"})", 400,
                             "q must be a string or a list of strings"},
           LibreTranslateRow{R"({"q": ["a", 5], "source": "de", "target": "en"})", 400,
                             "q must be a string or a list of strings"},
           LibreTranslateRow{R"({"q": "a", "source": ["de"], "target": "en"})", 400,
                             "source must be a string"},
           LibreTranslateRow{R"(["q"])", 400,
                             "the body is not an object of JSON: send {\"name\": value, ...}"},
       }) {
    const Reply reply = translate(request);
    EXPECT_EQ(reply.status, status) << request;
    EXPECT_EQ(reply.body, Json({{"error", answer}})) << request;
  }
  EXPECT_TRUE(service_.text_jobs.empty());
}

TEST_F(LibreTranslateTest, TakesFormsAndQueries) {
  const Json expected = {{"translatedText", "[Ein Hund.]\n[Zwei]"}};
  EXPECT_EQ(post(form_request("/translate",
                              "q=Ein+Hund.%0D%0AZwei%0D%0A&source=de&target=en&format=text"))
                .body,
            expected);
  EXPECT_EQ(post({.method = "POST",
                  .path = "/translate",
                  .query = {{"q", "Ein Hund.\nZwei"}, {"source", "de"}, {"target", "en"}}})
                .body,
            expected);
  EXPECT_EQ(post({.method = "POST",
                  .path = "/translate",
                  .headers = {{"content-type", "multipart/form-data; boundary=\"b c\""}},
                  .body = "--b c\r\nContent-Disposition: form-data; name=\"q\"\r\n\r\n"
                          "Ein Hund.\r\nZwei\r\n"
                          "--b c\r\nContent-Disposition: form-data; name=\"source\"\r\n\r\nde\r\n"
                          "--b c\r\nContent-Disposition: form-data; name=\"target\"\r\n\r\nen\r\n"
                          "--b c--\r\n"})
                .body,
            expected);
}

TEST_F(LibreTranslateTest, ListsLanguages) {
  const Reply reply = get("/languages");
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(reply.body, Json::parse(R"json([
      {"code": "de", "name": "German", "targets": ["en", "pt-br"]},
      {"code": "fr", "name": "French", "targets": ["en"]},
      {"code": "en", "name": "English", "targets": []},
      {"code": "pt-br", "name": "Portuguese (br)", "targets": []}])json"));
}

TEST_F(LibreTranslateTest, CannotTellLanguagesApart) {
  const Reply reply = post(form_request("/detect", "q=Hund"));
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(reply.body, Json::parse(R"([{"confidence": 0.0, "language": "de"},
                                        {"confidence": 0.0, "language": "fr"}])"));
  EXPECT_EQ(post({.method = "POST", .path = "/detect"}).status, 400);
}

TEST_F(LibreTranslateTest, TellsPagesItsSettings) {
  const Reply reply = get("/frontend/settings");
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(reply.body["charLimit"], 30);
  EXPECT_EQ(reply.body["keyRequired"], false);
  EXPECT_EQ(reply.body["language"]["source"], Json({{"code", "de"}, {"name", "German"}}));
  EXPECT_EQ(reply.body["language"]["target"], Json({{"code", "en"}, {"name", "English"}}));
  EXPECT_EQ(reply.body["supportedFilesFormat"], Json::array());
}

TEST_F(LibreTranslateTest, RefusesWhatItDoesNotHave) {
  EXPECT_EQ(post({.method = "POST", .path = "/suggest"}).status, 403);
  const Reply reply = post({.method = "POST", .path = "/translate_file"});
  EXPECT_EQ(reply.status, 403);
  EXPECT_EQ(reply.body["error"], "Files translation are disabled on this server.");
}

TEST_F(LibreTranslateTest, WordsRefusalsOfTheServer) {
  const auto routes = libretranslate_routes(service_, {});
  const auto worded = [&](const Refusal& refusal) {
    const HttpResponse response = routes[0].refused(refusal);
    return std::to_string(response.status) + " " + response.body;
  };
  EXPECT_EQ(worded(Refusal(401, "no token")), R"(403 {"error":"Invalid API key"})");
  EXPECT_EQ(worded(Refusal(429, "the queue is full")),
            R"(429 {"error":"Slowdown: the queue is full"})");
  EXPECT_EQ(worded(Refusal(503, "draining")), R"(503 {"error":"draining"})");
}

TEST_F(LibreTranslateTest, FindsTheKeyInTheBody) {
  const auto routes = libretranslate_routes(service_, {});
  const auto key = [&](const HttpRequest& request) { return routes[0].token(request); };
  EXPECT_EQ(key(json_request("/translate", R"({"api_key": "k"})")), "k");
  EXPECT_EQ(key(form_request("/translate", "q=a&api_key=k")), "k");
  EXPECT_EQ(key({.query = {{"api_key", "k"}}}), "k");
  EXPECT_EQ(key(json_request("/translate", "{")), "");
  EXPECT_EQ(key(json_request("/translate", R"({"api_key": 5})")), "");
}

// A server without models of texts whose languages are known.
TEST(LibreTranslateWithoutModels, ListsNothing) {
  FakeTranslator service({{.name = "unknown"}});
  const auto routes = libretranslate_routes(service, {});
  EXPECT_EQ(reply_of(routes, {.method = "GET", .path = "/languages"}).body, Json::array());
  EXPECT_EQ(reply_of(routes, {.method = "GET", .path = "/frontend/settings"}).status, 200);
  EXPECT_EQ(reply_of(routes, form_request("/detect", "q=a")).body, Json::array());
  const Reply reply = reply_of(routes, form_request("/translate", "q=a&source=auto&target=en"));
  EXPECT_EQ(reply.status, 400);
  EXPECT_EQ(reply.body["error"], "en is not supported");
}

}  // namespace
}  // namespace tessera::serve
