#include "serve/json_body.h"

#include "serve/refusal.h"

#include <fmt/format.h>

namespace tessera::serve {
namespace {

constexpr int kDeepest = 16;

}  // namespace

nlohmann::json parse_json(std::string_view body) {
  using Json = nlohmann::json;
  // Depth is checked while the text is read: what is nested deeper is never built.
  const auto check = [](int depth, Json::parse_event_t event, Json&) {
    const bool opens =
        event == Json::parse_event_t::object_start || event == Json::parse_event_t::array_start;
    if (opens && depth >= kDeepest)
      throw Refusal(400, fmt::format("the JSON is nested deeper than {} levels", kDeepest));
    return true;
  };
  try {
    return Json::parse(body.begin(), body.end(), check);
  } catch (const Json::exception& error) {
    std::string message = error.what();
    // "[json.exception.parse_error.101] parse error at ...": the number is the library's.
    if (const size_t bracket = message.find("] "); bracket != std::string::npos)
      message.erase(0, bracket + 2);
    const bool is_utf8 = message.find("UTF-8") == std::string::npos;
    // What the library shows of the body may hold bytes that are not text.
    if (const size_t shown = message.find("; last read"); shown != std::string::npos)
      message.erase(shown);
    throw Refusal(400, is_utf8 ? "the body is not JSON: " + message
                               : std::string("the body is not UTF-8: ") + message);
  }
}

std::string dump_json(const nlohmann::ordered_json& value) {
  return value.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace tessera::serve
