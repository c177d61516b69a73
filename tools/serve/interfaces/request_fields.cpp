#include "serve/interfaces/request_fields.h"

#include "base/require.h"
#include "serve/ascii.h"
#include "serve/json_body.h"
#include "serve/refusal.h"
#include "text/utf8.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace tessera::serve {
namespace {

constexpr size_t kMostFields = 1000;

Refusal bad_request(std::string message) {
  return Refusal(400, std::move(message));
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

// Splits "form-data; name=\"q\"" at its semicolons; those in quotes do not count.
std::vector<std::string_view> parts_of_header(std::string_view header) {
  std::vector<std::string_view> parts;
  bool quoted = false;
  size_t begin = 0;
  for (size_t place = 0; place <= header.size(); ++place) {
    if (place < header.size() && header[place] == '"') quoted = !quoted;
    if (place < header.size() && (header[place] != ';' || quoted)) continue;
    parts.push_back(trimmed(header.substr(begin, place - begin)));
    begin = place + 1;
  }
  return parts;
}

// The value of a parameter: "q" of name="q". Nothing if the header has none of that name.
std::optional<std::string> parameter(std::string_view header, std::string_view name) {
  const std::vector<std::string_view> parts = parts_of_header(header);
  for (size_t k = 1; k < parts.size(); ++k) {
    const size_t equals = parts[k].find('=');
    if (equals == std::string_view::npos || !same_ascii(trimmed(parts[k].substr(0, equals)), name))
      continue;
    std::string_view value = trimmed(parts[k].substr(equals + 1));
    if (value.size() >= 2 && value.front() == '"' && value.back() == '"')
      value = value.substr(1, value.size() - 2);
    return std::string(value);
  }
  return {};
}

// "a+b%21" is "a b!". A '%' without two digits stands for itself.
std::string decoded(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  for (size_t place = 0; place < text.size(); ++place) {
    const char byte = text[place];
    if (byte == '%' && place + 2 < text.size() && hexadecimal_digit(text[place + 1]) < 16 &&
        hexadecimal_digit(text[place + 2]) < 16) {
      result += static_cast<char>(hexadecimal_digit(text[place + 1]) * 16 +
                                  hexadecimal_digit(text[place + 2]));
      place += 2;
    } else {
      result += byte == '+' ? ' ' : byte;
    }
  }
  return result;
}

class FormReader {
 public:
  void add(const std::string& name, const std::string& value) {
    if (++fields_ > kMostFields)
      throw bad_request(fmt::format("the request has more than {} fields", kMostFields));
    if (text::find_invalid_utf8(name) != std::string_view::npos)
      throw bad_request("the name of a field is not UTF-8");
    if (text::find_invalid_utf8(value) != std::string_view::npos)
      refuse_field(name + " is not UTF-8", name);
    values[name].push_back(value);
  }

  void read_form(std::string_view body) {
    while (!body.empty()) {
      const std::string_view pair = body.substr(0, body.find('&'));
      body.remove_prefix(std::min(pair.size() + 1, body.size()));
      if (pair.empty()) continue;
      const std::string_view name = pair.substr(0, pair.find('='));
      add(decoded(name), decoded(pair.substr(std::min(name.size() + 1, pair.size()))));
    }
  }

  void read_multipart(std::string_view body, const std::string& boundary) {
    const std::string mark = "--" + boundary;
    // What stands before the first mark does not count.
    size_t begin = body.starts_with(mark) ? 0 : body.find("\r\n" + mark);
    while (begin != std::string_view::npos) {
      begin = body.find("--", begin) + mark.size();
      if (body.substr(begin).starts_with("--")) return;  // the last one
      begin = body.find("\r\n", begin);
      if (begin == std::string_view::npos) break;
      const size_t end = body.find("\r\n" + mark, begin);
      if (end == std::string_view::npos) break;
      if (end == begin) throw bad_request("a part of the form is empty");
      // A part without headers begins with an empty line.
      read_part(body.substr(begin, end - begin));
      begin = end;
    }
    throw bad_request("the multipart form is cut off");
  }

  nlohmann::json values = nlohmann::json::object();

 private:
  // A part with the line break before it.
  void read_part(std::string_view part) {
    std::string disposition;
    while (true) {
      part.remove_prefix(2);
      const size_t end = part.find("\r\n");
      if (end == std::string_view::npos) throw bad_request("a part of the form has no content");
      const std::string_view header = part.substr(0, end);
      part.remove_prefix(end);
      if (header.empty()) break;
      const size_t colon = header.find(':');
      if (colon != std::string_view::npos &&
          same_ascii(trimmed(header.substr(0, colon)), "content-disposition"))
        disposition = trimmed(header.substr(colon + 1));
    }
    const std::optional<std::string> name = parameter(disposition, "name");
    if (!name) throw bad_request("a part of the form has no name");
    if (parameter(disposition, "filename")) return;
    add(*name, std::string(part.substr(2)));
  }

  size_t fields_ = 0;
};

}  // namespace

void refuse_field(std::string message, std::string field, int status) {
  Refusal refusal(status, std::move(message));
  refusal.field = std::move(field);
  throw refusal;
}

RequestFields::RequestFields(const HttpRequest& request) {
  const std::string_view type = request.header("content-type");
  const std::string_view kind = trimmed(type.substr(0, type.find(';')));
  if (same_ascii(kind, "application/json") || kind.ends_with("+json")) {
    values_ = parse_json(request.body);
    if (!values_.is_object())
      throw Refusal(400, "the body is not an object of JSON", "send {\"name\": value, ...}");
    typed_ = true;
    return;
  }
  FormReader form;
  for (const auto& [name, value] : request.query) form.add(name, value);
  if (same_ascii(kind, "application/x-www-form-urlencoded")) {
    form.read_form(request.body);
  } else if (same_ascii(kind, "multipart/form-data")) {
    constexpr size_t kLongestBoundary = 200;
    const std::string boundary = parameter(type, "boundary").value_or("");
    if (boundary.empty() || boundary.size() > kLongestBoundary)
      throw bad_request("the multipart form has no boundary");
    form.read_multipart(request.body, boundary);
  } else if (!request.body.empty()) {
    Refusal refusal(400, fmt::format("the Content-Type of the body, '{}', is not known here", kind),
                    "send JSON with the header \"Content-Type: application/json\"");
    refusal.field = "content-type";
    throw refusal;
  }
  values_ = std::move(form.values);
}

const nlohmann::json* RequestFields::find(const std::string& name) const {
  const auto found = values_.find(name);
  if (found == values_.end() || found->is_null()) return nullptr;
  return typed_ ? &*found : &found->front();
}

std::optional<std::string> RequestFields::text(const std::string& name) const {
  const nlohmann::json* const value = find(name);
  if (value == nullptr) return {};
  if (!value->is_string()) refuse_field(name + " must be a string", name);
  return value->get<std::string>();
}

std::optional<int64_t> RequestFields::number(const std::string& name) const {
  const nlohmann::json* const value = find(name);
  if (value == nullptr) return {};
  const bool fits = !value->is_number_unsigned() || value->get<uint64_t>() <= INT64_MAX;
  if (value->is_number_integer() && fits) return value->get<int64_t>();
  constexpr double kMost = 1e15;  // all integers below are exact
  if (value->is_number_float()) {
    const double number = value->get<double>();
    if (std::abs(number) < kMost && number == std::floor(number))
      return static_cast<int64_t>(number);
  }
  if (value->is_string()) {
    const std::string digits(trimmed(value->get_ref<const std::string&>()));
    int64_t number = 0;
    const auto [end, problem] =
        std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (problem == std::errc() && end == digits.data() + digits.size()) return number;
  }
  refuse_field(name + " must be a whole number", name);
}

std::optional<bool> RequestFields::truth(const std::string& name) const {
  const nlohmann::json* const value = find(name);
  if (value == nullptr) return {};
  if (value->is_boolean()) return value->get<bool>();
  if (*value == "true" || *value == "1" || *value == 1) return true;
  if (*value == "false" || *value == "0" || *value == 0) return false;
  refuse_field(name + " must be true or false", name);
}

std::optional<std::vector<std::string>> RequestFields::texts(const std::string& name) const {
  if (find(name) == nullptr) return {};
  const nlohmann::json& value = values_.at(name);
  if (value.is_string()) return std::vector{value.get<std::string>()};
  const auto is_text = [](const nlohmann::json& entry) { return entry.is_string(); };
  if (!value.is_array() || !std::ranges::all_of(value, is_text))
    refuse_field(name + " must be a string or a list of strings", name);
  return value.get<std::vector<std::string>>();
}

bool RequestFields::is_list(const std::string& name) const {
  return typed_ && values_.contains(name) && values_.at(name).is_array();
}

std::string token_in_field(const HttpRequest& request, const std::string& name) {
  try {
    return RequestFields(request).text(name).value_or("");
  } catch (const Refusal&) {
    return {};
  }
}

}  // namespace tessera::serve
