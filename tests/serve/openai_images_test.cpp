#include "serve/fake_translator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tessera::serve {
namespace {

using Json = nlohmann::json;
using test::FakeTranslator;
using test::json_request;
using test::Reply;
using test::reply_of;

class OpenaiImagesTest : public testing::Test {
 protected:
  Reply generate(const std::string& json) {
    return reply_of(openai_image_routes(service_, {}),
                    json_request("/v1/images/generations", json));
  }

  FakeTranslator service_;
};

TEST_F(OpenaiImagesTest, MakesImagesOfAClass) {
  const Reply reply = generate(
      R"({"prompt": "one", "n": 2, "model": "digits", "size": "3x2", "response_format": "b64_json",
          "seed": 7, "user": "x", "quality": "auto"})");
  EXPECT_EQ(reply.status, 200);
  EXPECT_GT(reply.body["created"], 1'700'000'000);
  ASSERT_EQ(reply.body["data"].size(), 2u);
  const std::string png = reply.body["data"][1]["b64_json"];
  EXPECT_TRUE(png.starts_with("iVBORw0KGgo")) << "the signature of PNG";
  ASSERT_EQ(service_.image_jobs.size(), 1u);
  EXPECT_EQ(service_.image_jobs[0].model, 1u);
  EXPECT_EQ(service_.image_jobs[0].request.label, "one");
  EXPECT_EQ(service_.image_jobs[0].request.seed, 7u);
}

TEST_F(OpenaiImagesTest, MakesOtherImagesEveryTime) {
  EXPECT_EQ(generate(R"({"prompt": ""})").body["data"].size(), 1u);
  EXPECT_EQ(generate(R"({"prompt": "", "n": null, "size": "auto"})").status, 200);
  EXPECT_NE(service_.image_jobs[0].request.seed, service_.image_jobs[1].request.seed);
  EXPECT_EQ(service_.image_jobs[0].request.label, "");
}

TEST_F(OpenaiImagesTest, SaysWhichFieldIsWrong) {
  struct Row {
    const char* request;
    int status;
    const char* field;
    const char* message;
  };
  for (const auto& [request, status, field, message] : {
           Row{"{}", 400, "prompt", "Missing required parameter: 'prompt'"},
           Row{R"({"prompt": "two"})", 400, "prompt",
               "prompt must be empty or the name of a class: zero, one"},
           Row{R"({"prompt": 1})", 400, "prompt", "prompt must be a string"},
           Row{R"({"prompt": "", "n": 0})", 400, "n", "n must be from 1 to 64"},
           Row{R"({"prompt": "", "n": 65})", 400, "n", "n must be from 1 to 64"},
           Row{R"({"prompt": "", "n": "x"})", 400, "n", "n must be a whole number"},
           Row{R"({"prompt": "", "response_format": "url"})", 400, "response_format",
               "response_format must be b64_json"},
           Row{R"({"prompt": "", "size": "1024x1024"})", 400, "size", "size must be 3x2 or auto"},
           Row{R"({"prompt": "", "output_format": "jpeg"})", 400, "output_format",
               "output_format must be png"},
           Row{R"({"prompt": "", "stream": true})", 400, "stream",
               "images are streamed by POST /v1/images, not here"},
           Row{R"({"prompt": "", "seed": -1})", 400, "seed", "seed must not be negative"},
           Row{R"({"prompt": "", "model": "gpt-image-1"})", 404, "model",
               "the model 'gpt-image-1' does not exist here; there is digits"},
       }) {
    const Reply reply = generate(request);
    EXPECT_EQ(reply.status, status) << request;
    EXPECT_EQ(reply.body["error"]["param"], field) << request;
    EXPECT_EQ(reply.body["error"]["message"], message) << request;
    EXPECT_EQ(reply.body["error"]["type"], "invalid_request_error") << request;
    EXPECT_EQ(reply.body["error"]["code"], status == 404 ? Json("model_not_found") : Json());
  }
}

TEST_F(OpenaiImagesTest, KnowsWhenThereAreNoModelsOrClasses) {
  FakeTranslator texts({{.name = "de-en"}});
  const HttpRequest request = json_request("/v1/images/generations", R"({"prompt": "a"})");
  EXPECT_EQ(reply_of(openai_image_routes(texts, {}), request).status, 404);
  FakeTranslator plain(
      {{.name = "p", .makes_images = true, .height = 2, .width = 2, .channels = 3}});
  const Reply reply = reply_of(openai_image_routes(plain, {}), request);
  EXPECT_EQ(reply.status, 400);
  EXPECT_EQ(reply.body["error"]["message"], "the model 'p' knows no classes: prompt must be empty");
}

}  // namespace
}  // namespace tessera::serve
