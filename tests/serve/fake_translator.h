#pragma once

#include "serve/routes.h"
#include "serve/service.h"

#include <nlohmann/json.hpp>

#include <stdexcept>
#include <string>
#include <vector>

namespace tessera::serve::test {

// A service without models behind it: "a" becomes "[a]", with the candidates "[a]" "|a|" "{a}" "".
// Images of seed s are all of value s.
class FakeTranslator : public Service {
 public:
  FakeTranslator()
      : models_{{.name = "de-en", .source = "de", .target = "en"},
                {.name = "digits",
                 .makes_images = true,
                 .classes = {"zero", "one"},
                 .height = 2,
                 .width = 3,
                 .channels = 1},
                {.name = "fr-en", .source = "fr", .target = "en"},
                {.name = "de-pt", .source = "de", .target = "pt-br"}} {}
  explicit FakeTranslator(std::vector<ModelFacts> models) : models_(std::move(models)) {}

  std::span<const ModelFacts> models() const override { return models_; }
  const Engine& engine(size_t) const override { throw std::logic_error("there is no engine"); }

  TextAnswer translate(TextJob job) override {
    TextAnswer answer{.times = {.batch_texts = 1}};
    for (const std::string& text : job.texts) {
      TextResult result{.text = "[" + text + "]"};
      for (const char* brackets : {"[]", "||", "[]", "{}", ""}) {
        const std::string pair = brackets;
        result.ranking.push_back(result.candidates.size());
        result.candidates.push_back(
            {.text = pair.empty() ? "" : pair.substr(0, 1) + text + pair.substr(1)});
      }
      answer.results.push_back(std::move(result));
    }
    text_jobs.push_back(std::move(job));
    return answer;
  }

  ImageAnswer sample(ImageJob job) override {
    const ModelFacts& model = models_.at(job.model);
    ImageAnswer answer;
    answer.images.count = job.request.count;
    answer.images.height = model.height;
    answer.images.width = model.width;
    answer.images.channels = model.channels;
    answer.images.values.assign(
        static_cast<size_t>(job.request.count * model.height * model.width * model.channels),
        static_cast<uint8_t>(job.request.seed));
    image_jobs.push_back(std::move(job));
    return answer;
  }

  std::vector<TextJob> text_jobs;
  std::vector<ImageJob> image_jobs;

 private:
  std::vector<ModelFacts> models_;
};

struct Reply {
  int status = 0;
  nlohmann::json body;
};

// What the routes answer, as the server would have it.
inline Reply reply_of(const std::vector<Route>& routes, const HttpRequest& request) {
  for (const Route& route : routes) {
    if (route.method != request.method || route.path != request.path) continue;
    HttpResponse response;
    try {
      response = route.answer(request);
    } catch (const Refusal& refusal) {
      response = route.refused(refusal);
    }
    return {response.status, nlohmann::json::parse(response.body)};
  }
  return {404, nullptr};
}

inline HttpRequest json_request(const std::string& path, const std::string& body) {
  return {.method = "POST",
          .path = path,
          .headers = {{"content-type", "application/json; charset=utf-8"}},
          .body = body};
}

inline HttpRequest form_request(const std::string& path, const std::string& body) {
  return {.method = "POST",
          .path = path,
          .headers = {{"content-type", "application/x-www-form-urlencoded"}},
          .body = body};
}

}  // namespace tessera::serve::test
