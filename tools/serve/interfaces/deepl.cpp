// What DeepL's interface has for texts: POST /v2/translate, GET /v2/languages and /v2/usage.

#include "base/require.h"
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

constexpr int64_t kMostTexts = 50;
constexpr size_t kMostBytes = size_t{128} << 10;
// Clients stop when the count has reached the limit. There is none here; this is what DeepL says
// where there is none.
constexpr int64_t kNoLimit = 1'000'000'000'000;

HttpResponse deepl_refusal(const Refusal& refusal) {
  std::string message = refusal.what();
  if (!refusal.hint().empty()) message += ": " + refusal.hint();
  if (refusal.status() == 401)
    return {.status = 403, .body = dump_json({{"message", "Forbidden: wrong or no key"}})};
  return {.status = refusal.status(), .body = dump_json({{"message", message}})};
}

std::string upper_case(std::string_view code) {
  std::string result(code);
  std::ranges::transform(result, result.begin(), [](char byte) {
    return byte >= 'a' && byte <= 'z' ? static_cast<char>(byte - 'a' + 'A') : byte;
  });
  return result;
}

// The languages of a kind, as DeepL lists them: English and Portuguese are two targets each, which
// clients insist on.
std::vector<std::pair<std::string, std::string>> listed(const std::string& code, bool target) {
  if (target && code == "en")
    return {{"EN-GB", "English (British)"}, {"EN-US", "English (American)"}};
  if (target && code == "pt")
    return {{"PT-BR", "Portuguese (Brazilian)"}, {"PT-PT", "Portuguese (European)"}};
  return {{upper_case(code), language_name(code)}};
}

class Deepl {
 public:
  Deepl(Service& service, const RequestLimits& limits) : service_(service), limits_(limits) {}

  HttpResponse translate(const HttpRequest& request) const {
    const RequestFields fields(request);
    const std::vector<std::string> texts = texts_of(fields);
    const std::optional<std::string> target = fields.text("target_lang");
    if (!target || target->empty())
      refuse_field("Parameter 'target_lang' not specified", "target_lang");
    const std::string source = fields.text("source_lang").value_or("");
    const size_t model = model_between(source, *target);
    const bool html = is_html(fields);

    std::vector<Passage> passages;
    for (const std::string& text : texts) passages.push_back({text, html});
    const TranslatedPassages translated = translate_passages(
        service_, passages, splitting(fields), {.model = model, .gone = request.gone});
    const std::string language = upper_case(base_language(service_.models()[model].source));
    Json results = Json::array();
    for (size_t k = 0; k < texts.size(); ++k)
      results.push_back({{"detected_source_language", language},
                         {"text", translated.passages[k].text},
                         // Clients fail without it.
                         {"billed_characters", text::decode_utf8(texts[k]).size()}});
    return {.body = dump_json({{"translations", results}})};
  }

  HttpResponse languages(const HttpRequest& request) const {
    const std::string kind = RequestFields(request).text("type").value_or("source");
    if (kind != "source" && kind != "target")
      refuse_field("Value for 'type' not supported: 'source' or 'target'", "type");
    const bool target = kind == "target";
    Json list = Json::array();
    std::vector<std::string> codes;
    for (const ModelFacts& model : service_.models()) {
      const std::string& code = target ? model.target : model.source;
      if (!knows_its_languages(model) || std::ranges::find(codes, code) != codes.end()) continue;
      codes.push_back(code);
      for (const auto& [listed_code, name] : listed(code, target)) {
        Json entry = {{"language", listed_code}, {"name", name}};
        if (target) entry["supports_formality"] = false;
        list.push_back(std::move(entry));
      }
    }
    return {.body = dump_json(list)};
  }

  HttpResponse usage(const HttpRequest&) const {
    return {.body = dump_json({{"character_count", 0}, {"character_limit", kNoLimit}})};
  }

 private:
  std::vector<std::string> texts_of(const RequestFields& fields) const {
    const std::optional<std::vector<std::string>> texts = fields.texts("text");
    if (!texts || texts->empty()) refuse_field("Parameter 'text' not specified", "text");
    const int64_t most = std::min(kMostTexts, limits_.texts);
    if (static_cast<int64_t>(texts->size()) > most)
      refuse_field(fmt::format("Too many texts: {} of at most {}", texts->size(), most), "text");
    size_t bytes = 0;
    for (const std::string& text : *texts) {
      bytes += text.size();
      const size_t characters = text::decode_utf8(text).size();
      if (static_cast<int64_t>(characters) > limits_.characters)
        refuse_field(fmt::format("A text is too long: {} characters of at most {}", characters,
                                 limits_.characters),
                     "text");
    }
    if (bytes > kMostBytes)
      throw Refusal(413, fmt::format("Request size exceeds {} bytes", kMostBytes));
    return *texts;
  }

  size_t model_between(const std::string& source, const std::string& target) const {
    // Says which of the two is wrong, as DeepL does.
    const auto supported = [&](const std::string& wanted, std::string ModelFacts::*language) {
      return std::ranges::any_of(service_.models(), [&](const ModelFacts& model) {
        return knows_its_languages(model) &&
               base_language(model.*language) == base_language(language_code(wanted));
      });
    };
    if (!supported(target, &ModelFacts::target))
      refuse_field("Value for 'target_lang' not supported.", "target_lang");
    if (!source.empty() && !supported(source, &ModelFacts::source))
      refuse_field("Value for 'source_lang' not supported.", "source_lang");
    return model_for(service_, source, target);
  }

  static bool is_html(const RequestFields& fields) {
    const std::string handling = fields.text("tag_handling").value_or("");
    if (!handling.empty() && handling != "html")
      refuse_field("Value for 'tag_handling' not supported: only 'html' is", "tag_handling");
    return !handling.empty();
  }

  static PassageOptions splitting(const RequestFields& fields) {
    std::string split = "1";
    if (const nlohmann::json* const value = fields.find("split_sentences"))
      split = value->is_string() ? value->get<std::string>() : value->dump();
    if (split == "0" || split == "false") return {.split = false};
    if (split == "1" || split == "true") return {};
    if (split == "nonewlines") return {.line_ends = false};
    refuse_field("Value for 'split_sentences' not supported: '0', '1' or 'nonewlines'",
                 "split_sentences");
  }

  Service& service_;
  RequestLimits limits_;
};

}  // namespace

std::vector<Route> deepl_routes(Service& service, const RequestLimits& limits) {
  const Deepl api(service, limits);
  const auto route = [](const char* method, const char* path, auto answer) {
    return Route{method,
                 path,
                 false,
                 std::move(answer),
                 deepl_refusal,
                 [](const HttpRequest& request) { return token_in_field(request, "auth_key"); }};
  };
  const auto languages = [api](const HttpRequest& request) { return api.languages(request); };
  return {route("POST", "/v2/translate", [api](auto& request) { return api.translate(request); }),
          route("GET", "/v2/languages", languages), route("POST", "/v2/languages", languages),
          route("GET", "/v2/usage", [api](auto& request) { return api.usage(request); })};
}

}  // namespace tessera::serve
