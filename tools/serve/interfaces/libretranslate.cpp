// The interface of LibreTranslate: POST /translate and /detect, GET /languages and
// /frontend/settings. Names, messages and their order are those of its version 1.9.

#include "base/require.h"
#include "base/visible_text.h"
#include "serve/interfaces/languages.h"
#include "serve/interfaces/request_fields.h"
#include "serve/json_body.h"
#include "serve/paragraphs.h"
#include "serve/routes.h"
#include "text/utf8.h"

#include <algorithm>

namespace tessera::serve {
namespace {

using Json = nlohmann::ordered_json;

HttpResponse answered(const Json& value) {
  return {.body = dump_json(value)};
}

HttpResponse libretranslate_refusal(const Refusal& refusal) {
  std::string message = refusal.what();
  int status = refusal.status();
  if (status == 401) {
    status = 403;
    message = "Invalid API key";
  } else if (status == 429) {
    message = "Slowdown: " + message;
  } else if (!refusal.hint().empty()) {
    message += ": " + refusal.hint();
  }
  return {.status = status, .body = dump_json({{"error", message}})};
}

std::string required(const RequestFields& fields, const std::string& name) {
  std::optional<std::string> value = fields.text(name);
  if (!value || value->empty())
    refuse_field(fmt::format("Invalid request: missing {} parameter", name), name);
  return std::move(*value);
}

// Line ends of a form are "\r\n", whatever the user typed: as "\n", and none at the end.
std::string with_plain_line_ends(std::string_view text) {
  std::string result;
  for (size_t place = 0; place < text.size(); ++place) {
    const bool pair = text[place] == '\r' && place + 1 < text.size() && text[place + 1] == '\n';
    if (!pair) result += text[place] == '\r' ? '\n' : text[place];
  }
  if (result.ends_with('\n')) result.pop_back();
  return result;
}

std::vector<std::string> texts_of(const RequestFields& fields) {
  const bool empty_list = fields.is_list("q") && fields.find("q")->empty();
  if (fields.find("q") == nullptr || *fields.find("q") == "" || empty_list)
    refuse_field("Invalid request: missing q parameter", "q");
  if (!fields.typed()) return {with_plain_line_ends(*fields.text("q"))};
  return *fields.texts("q");
}

void require_limits(const std::vector<std::string>& texts, bool list, const RequestLimits& limits) {
  const auto require_at_most = [](int64_t size, int64_t limit) {
    if (size > limit)
      refuse_field(
          fmt::format("Invalid request: request ({}) exceeds text limit ({})", size, limit), "q");
  };
  if (list) require_at_most(static_cast<int64_t>(texts.size()), limits.texts);
  for (const std::string& text : texts)
    require_at_most(static_cast<int64_t>(text::decode_utf8(text).size()), limits.characters);
}

int64_t alternatives_of(const RequestFields& fields) {
  try {
    return std::max<int64_t>(fields.number("alternatives").value_or(0), 0);
  } catch (const Refusal&) {
    refuse_field("Invalid request: alternatives parameter is not a number", "alternatives");
  }
}

Json named(const std::string& code) {
  return {{"code", code}, {"name", language_name(code)}};
}

class LibreTranslate {
 public:
  LibreTranslate(Service& service, const RequestLimits& limits)
      : service_(service), limits_(limits) {}

  HttpResponse translate(const HttpRequest& request) const {
    const RequestFields fields(request);
    const bool list = fields.is_list("q");
    const std::vector<std::string> texts = texts_of(fields);
    const std::string source = language_code(required(fields, "source"));
    const std::string target = language_code(required(fields, "target"));
    const int64_t alternatives = alternatives_of(fields);
    require_limits(texts, list, limits_);
    if (source != "auto") require_supported(source);
    require_supported(target);
    std::string format = fields.text("format").value_or("");
    if (format.empty()) format = "text";
    if (format != "text" && format != "html")
      refuse_field(fmt::format("{} format is not supported", visible(format)), "format");

    const size_t model = model_between(source, target);
    std::vector<Passage> passages;
    for (const std::string& text : texts) passages.push_back({text, format == "html"});
    const std::vector<TranslatedPassage> translated =
        translate_passages(service_, passages, {.alternatives = alternatives},
                           {.model = model, .gone = request.gone})
            .passages;
    const std::string& language = service_.models()[model].source;
    return answered(
        result_of(translated, list, alternatives > 0, source == "auto" ? language : std::string()));
  }

  // A model of one source language cannot tell languages apart: it says which it has, without
  // any confidence.
  HttpResponse detect(const HttpRequest& request) const {
    const RequestFields fields(request);
    texts_of(fields);
    Json found = Json::array();
    for (const ModelFacts& model : service_.models()) {
      const Json entry = detected(model.source);
      const bool is_new = std::ranges::find(found, entry) == found.end();
      if (knows_its_languages(model) && is_new) found.push_back(entry);
    }
    return answered(found);
  }

  HttpResponse languages(const HttpRequest&) const {
    const std::vector<std::string> codes = languages_of(service_);
    Json list = Json::array();
    for (const std::string& source : codes) {
      Json entry = named(source);
      entry["targets"] = Json::array();
      for (const std::string& target : codes)
        if (translates(service_, source, target)) entry["targets"].push_back(target);
      list.push_back(std::move(entry));
    }
    return answered(list);
  }

  HttpResponse settings(const HttpRequest&) const {
    constexpr int64_t kTypingPause = 500;  // milliseconds after which a page asks for a translation
    Json pair = {{"source", nullptr}, {"target", nullptr}};
    for (const ModelFacts& model : service_.models()) {
      if (!knows_its_languages(model)) continue;
      pair = {{"source", named(model.source)}, {"target", named(model.target)}};
      break;
    }
    return answered({{"charLimit", limits_.characters},
                     {"frontendTimeout", kTypingPause},
                     {"apiKeys", limits_.key_required},
                     {"keyRequired", limits_.key_required},
                     {"suggestions", false},
                     {"filesTranslation", false},
                     {"supportedFilesFormat", Json::array()},
                     {"language", pair}});
  }

 private:
  static Json detected(const std::string& language) {
    return {{"confidence", 0.0}, {"language", language}};
  }

  void require_supported(const std::string& language) const {
    const std::vector<std::string> codes = languages_of(service_);
    if (std::ranges::find(codes, language) == codes.end())
      refuse_field(fmt::format("{} is not supported", visible(language)), {});
  }

  size_t model_between(const std::string& source, const std::string& target) const {
    const std::string from = source == "auto" ? languages_of(service_).front() : source;
    const std::vector<std::string> codes = languages_of(service_);
    const bool reachable = source == "auto"
                               ? std::ranges::any_of(codes,
                                                     [&](const std::string& code) {
                                                       return translates(service_, code, target);
                                                     })
                               : translates(service_, source, target);
    if (!reachable)
      refuse_field(fmt::format("{} ({}) is not available as a target language from {} ({})",
                               language_name(target), target, language_name(from), from),
                   "target");
    return model_for(service_, source, target);
  }

  // The answer: single values for one text, lists for a list.
  //   language  that was "detected"; empty: the client has named it
  static Json result_of(const std::vector<TranslatedPassage>& passages, bool list,
                        bool with_alternatives, const std::string& language) {
    Json texts = Json::array(), others = Json::array(), languages = Json::array();
    for (const TranslatedPassage& passage : passages) {
      texts.push_back(passage.text);
      others.push_back(passage.alternatives);
      languages.push_back(detected(language));
    }
    const auto part = [&](const Json& all) { return list ? all : all.front(); };
    Json result = {{"translatedText", part(texts)}};
    if (!language.empty()) result["detectedLanguage"] = part(languages);
    if (with_alternatives) result["alternatives"] = part(others);
    return result;
  }

  Service& service_;
  RequestLimits limits_;
};

}  // namespace

std::vector<Route> libretranslate_routes(Service& service, const RequestLimits& limits) {
  const LibreTranslate api(service, limits);
  const auto route = [](const char* method, const char* path, bool open, auto answer) {
    return Route{method,
                 path,
                 open,
                 std::move(answer),
                 libretranslate_refusal,
                 [](const HttpRequest& request) { return token_in_field(request, "api_key"); }};
  };
  const auto disabled = [](const char* what) {
    return [what](const HttpRequest&) -> HttpResponse {
      throw Refusal(403, fmt::format("{} are disabled on this server.", what));
    };
  };
  return {
      route("POST", "/translate", false, [api](auto& request) { return api.translate(request); }),
      route("POST", "/detect", false, [api](auto& request) { return api.detect(request); }),
      // Open, as in the original; its Python client cannot send a token with these.
      route("GET", "/languages", true, [api](auto& request) { return api.languages(request); }),
      route("GET", "/frontend/settings", true,
            [api](auto& request) { return api.settings(request); }),
      route("POST", "/suggest", false, disabled("Suggestions")),
      route("POST", "/translate_file", false, disabled("Files translation"))};
}

}  // namespace tessera::serve
