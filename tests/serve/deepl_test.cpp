#include "serve/fake_translator.h"

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

class DeeplTest : public testing::Test {
 protected:
  Reply post(const HttpRequest& request) {
    return reply_of(deepl_routes(service_, {.characters = 100'000}), request);
  }
  Reply translate(const std::string& json) { return post(json_request("/v2/translate", json)); }

  FakeTranslator service_;
};

Json one(const std::string& text, int64_t characters) {
  return {
      {"translations",
       {{{"detected_source_language", "DE"}, {"text", text}, {"billed_characters", characters}}}}};
}

TEST_F(DeeplTest, TranslatesJson) {
  const std::vector<std::pair<const char*, Json>> rows{
      {R"({"text": ["Hünd"], "target_lang": "EN-GB", "source_lang": "DE"})", one("[Hünd]", 4)},
      {R"({"text": ["Hund"], "target_lang": "en-US"})", one("[Hund]", 4)},
      {R"({"text": ["Hund"], "target_lang": "EN", "formality": "more", "context": "x",
           "show_billed_characters": true, "preserve_formatting": false})",
       one("[Hund]", 4)},
      {R"({"text": "Hund", "target_lang": "PT-PT"})", one("[Hund]", 4)},
      {R"({"text": [""], "target_lang": "EN"})", one("", 0)},
      {R"({"text": ["Ja. Nein\nDoch"], "target_lang": "EN"})", one("[Ja.] [Nein]\n[Doch]", 13)},
      {R"({"text": ["Ja. Nein\nDoch"], "target_lang": "EN", "split_sentences": "0"})",
       one("[Ja. Nein\nDoch]", 13)},
      {R"({"text": ["Ja. Nein\nDoch"], "target_lang": "EN", "split_sentences": "nonewlines"})",
       one("[Ja.] [Nein\nDoch]", 13)},
      {R"({"text": ["<b>Ja"], "target_lang": "EN", "tag_handling": "html"})", one("<b>[Ja]", 5)},
      {R"({"text": ["<b>Ja"], "target_lang": "EN", "tag_handling": null})", one("[<b>Ja]", 5)},
  };
  for (const auto& [request, answer] : rows) {
    const Reply reply = translate(request);
    EXPECT_EQ(reply.status, 200) << request;
    EXPECT_EQ(reply.body, answer) << request;
  }
}

TEST_F(DeeplTest, TakesFormsWithSeveralTexts) {
  const Reply reply =
      post(form_request("/v2/translate", "text=Hund&target_lang=EN&text=Katze&source_lang=de"));
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(reply.body["translations"].size(), 2u);
  EXPECT_EQ(reply.body["translations"][1]["text"], "[Katze]");
}

TEST_F(DeeplTest, SaysWhatIsWrong) {
  struct Row {
    const char* request;
    const char* message;
  };
  for (const auto& [request, message] : {
           Row{R"({"target_lang": "EN"})", "Parameter 'text' not specified"},
           Row{R"({"text": [], "target_lang": "EN"})", "Parameter 'text' not specified"},
           Row{R"({"text": [1], "target_lang": "EN"})",
               "text must be a string or a list of strings"},
           Row{R"({"text": ["Hund"]})", "Parameter 'target_lang' not specified"},
           Row{R"({"text": ["Hund"], "target_lang": "ZZ"})",
               "Value for 'target_lang' not supported."},
           Row{R"({"text": ["Hund"], "target_lang": "EN", "source_lang": "EN"})",
               "Value for 'source_lang' not supported."},
           Row{R"({"text": ["Hund"], "target_lang": "PT-BR", "source_lang": "FR"})",
               "no model here translates texts from 'FR' to 'PT-BR': "
               "there is de to en, fr to en, de to pt-br"},
           Row{R"({"text": ["Hund"], "target_lang": "EN", "tag_handling": "xml"})",
               "Value for 'tag_handling' not supported: only 'html' is"},
           Row{R"({"text": ["Hund"], "target_lang": "EN", "split_sentences": "2"})",
               "Value for 'split_sentences' not supported: '0', '1' or 'nonewlines'"},
       }) {
    const Reply reply = translate(request);
    EXPECT_EQ(reply.status, 400) << request;
    EXPECT_EQ(reply.body, Json({{"message", message}})) << request;
  }
}

TEST_F(DeeplTest, HasItsLimits) {
  Json request = {{"target_lang", "EN"}, {"text", Json::array()}};
  for (int k = 0; k < 50; ++k) request["text"].push_back("Hund");
  EXPECT_EQ(translate(request.dump()).status, 200);
  request["text"].push_back("Hund");
  EXPECT_EQ(translate(request.dump()).status, 400);
  request["text"] = {std::string(70'000, 'a'), std::string(70'000, 'a')};
  EXPECT_EQ(translate(request.dump()).status, 413);
  request["text"] = {std::string(100'001, 'a')};
  EXPECT_EQ(translate(request.dump()).status, 400);
}

TEST_F(DeeplTest, ListsLanguages) {
  const Json sources = Json::parse(R"json([{"language": "DE", "name": "German"},
                                           {"language": "FR", "name": "French"}])json");
  const Json targets = Json::parse(R"json([
      {"language": "EN-GB", "name": "English (British)", "supports_formality": false},
      {"language": "EN-US", "name": "English (American)", "supports_formality": false},
      {"language": "PT-BR", "name": "Portuguese (br)", "supports_formality": false}])json");
  const auto listed = [&](const char* kind) {
    return post({.method = "GET", .path = "/v2/languages", .query = {{"type", kind}}});
  };
  EXPECT_EQ(post({.method = "GET", .path = "/v2/languages"}).body, sources);
  EXPECT_EQ(listed("source").body, sources);
  EXPECT_EQ(listed("target").body, targets);
  EXPECT_EQ(listed("x").status, 400);
}

// The client's any_limit_reached is count >= limit.
TEST_F(DeeplTest, NeverReachesALimit) {
  const Reply reply = post({.method = "GET", .path = "/v2/usage"});
  EXPECT_LT(reply.body["character_count"], reply.body["character_limit"]);
}

TEST_F(DeeplTest, FindsTheKeyInTheBody) {
  const auto routes = deepl_routes(service_, {});
  const auto key = [&](const HttpRequest& request) { return routes[0].token(request); };
  EXPECT_EQ(key(form_request("/v2/translate", "auth_key=k")), "k");
  EXPECT_EQ(key(json_request("/v2/translate", "{")), "");
  const HttpResponse refused = routes[0].refused(Refusal(401, "no token"));
  EXPECT_EQ(refused.status, 403);
  EXPECT_EQ(Json::parse(refused.body).count("message"), 1u);
}

}  // namespace
}  // namespace tessera::serve
