// The images of OpenAI's interface: POST /v1/images/generations.

#include "base/require.h"
#include "base/visible_text.h"
#include "serve/interfaces/base64_png.h"
#include "serve/interfaces/request_fields.h"
#include "serve/json_body.h"
#include "serve/routes.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <random>

namespace tessera::serve {
namespace {

using Json = nlohmann::ordered_json;

constexpr int64_t kMostImages = 64;

const char* error_type(int status) {
  if (status == 401 || status == 403) return "authentication_error";
  if (status == 429) return "rate_limit_error";
  return status >= 500 ? "server_error" : "invalid_request_error";
}

HttpResponse openai_refusal(const Refusal& refusal) {
  std::string message = refusal.what();
  if (!refusal.hint().empty()) message += ": " + refusal.hint();
  const bool unknown_model = refusal.status() == 404 && refusal.field == "model";
  const Json error = {{"message", message},
                      {"type", error_type(refusal.status())},
                      {"param", refusal.field.empty() ? Json() : Json(refusal.field)},
                      {"code", unknown_model ? Json("model_not_found") : Json()}};
  return {.status = refusal.status(), .body = dump_json({{"error", error}})};
}

class OpenaiImages {
 public:
  explicit OpenaiImages(Service& service) : service_(service) {}

  HttpResponse generate(const HttpRequest& request) const {
    const RequestFields fields(request);
    const size_t model = model_of(fields);
    const ModelFacts& facts = service_.models()[model];
    ImageJob job{.model = model, .gone = request.gone};
    job.request.label = label_of(fields, facts);
    job.request.count = fields.number("n").value_or(1);
    if (job.request.count < 1 || job.request.count > kMostImages)
      refuse_field(fmt::format("n must be from 1 to {}", kMostImages), "n");
    require_usual(fields, facts);
    const std::optional<int64_t> seed = fields.number("seed");
    if (seed && *seed < 0) refuse_field("seed must not be negative", "seed");
    job.request.seed = seed ? static_cast<uint64_t>(*seed) : fresh_seed();

    const Images images = service_.sample(std::move(job)).images;
    Json data = Json::array();
    for (int64_t k = 0; k < images.count; ++k)
      data.push_back({{"b64_json", base64_png(images, k)}});
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return {.body = dump_json(
                {{"created", std::chrono::duration_cast<std::chrono::seconds>(now).count()},
                 {"data", std::move(data)}})};
  }

 private:
  // Clients expect other images of every request.
  static uint64_t fresh_seed() { return std::random_device()(); }

  size_t model_of(const RequestFields& fields) const {
    const std::optional<std::string> name = fields.text("model");
    const std::span<const ModelFacts> models = service_.models();
    std::vector<std::string> names;
    for (size_t k = 0; k < models.size(); ++k) {
      if (!models[k].makes_images) continue;
      if (!name || *name == models[k].name) return k;
      names.push_back(models[k].name);
    }
    if (names.empty()) refuse_field("no model here makes images", "model", 404);
    refuse_field(fmt::format("the model '{}' does not exist here; there is {}",
                             visible(name->substr(0, 100)), fmt::join(names, ", ")),
                 "model", 404);
  }

  // The class that a prompt names.
  static std::string label_of(const RequestFields& fields, const ModelFacts& model) {
    const std::optional<std::string> prompt = fields.text("prompt");
    if (!prompt) refuse_field("Missing required parameter: 'prompt'", "prompt");
    if (prompt->empty()) return {};
    if (model.classes.empty())
      refuse_field(fmt::format("the model '{}' knows no classes: prompt must be empty", model.name),
                   "prompt");
    if (std::ranges::find(model.classes, *prompt) == model.classes.end()) {
      constexpr size_t kMostShown = 20;
      const size_t shown = std::min(kMostShown, model.classes.size());
      const auto begin = model.classes.begin();
      refuse_field(fmt::format("prompt must be empty or the name of a class: {}{}",
                               fmt::join(begin, begin + static_cast<std::ptrdiff_t>(shown), ", "),
                               shown < model.classes.size() ? ", ..." : ""),
                   "prompt");
    }
    return *prompt;
  }

  // What a client may say of size and format has to be as it is.
  static void require_usual(const RequestFields& fields, const ModelFacts& model) {
    const auto require_one_of = [&](const char* name, const std::vector<std::string>& possible) {
      const std::optional<std::string> value = fields.text(name);
      if (value && std::ranges::find(possible, *value) == possible.end())
        refuse_field(fmt::format("{} must be {}", name, fmt::join(possible, " or ")), name);
    };
    require_one_of("response_format", {"b64_json"});
    require_one_of("output_format", {"png"});
    require_one_of("size", {fmt::format("{}x{}", model.width, model.height), "auto"});
    if (fields.truth("stream").value_or(false))
      refuse_field("images are streamed by POST /v1/images, not here", "stream");
  }

  Service& service_;
};

}  // namespace

std::vector<Route> openai_image_routes(Service& service, const RequestLimits&) {
  const OpenaiImages api(service);
  Route route;
  route.method = "POST";
  route.path = "/v1/images/generations";
  route.answer = [api](const HttpRequest& request) { return api.generate(request); };
  route.refused = openai_refusal;
  return {route};
}

}  // namespace tessera::serve
