#pragma once

#include "serve/http_message.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tessera::serve {

// The fields of a request, in whatever form the client sends them: an object of JSON, a form
// (application/x-www-form-urlencoded), a multipart form (files are left out), or the query alone.
// Everything is valid UTF-8.
class RequestFields {
 public:
  // The fields of the query come before those of a form with the same name; a body of JSON stands
  // alone. Throws Refusal (400) for what cannot be read, more than 1,000 fields included.
  explicit RequestFields(const HttpRequest& request);

  // Whether fields have types. Otherwise all are strings.
  bool typed() const { return typed_; }

  // The value of a field: any JSON if typed, else the first string of that name. nullptr: there is
  // none, or it is null.
  const nlohmann::json* find(const std::string& name) const;

  // The value of a field; nothing if there is none. Throw Refusal (400), which names the field, for
  // a value of another type.
  std::optional<std::string> text(const std::string& name) const;
  std::optional<int64_t> number(const std::string& name) const;  // "3" and 3.0 are numbers, too
  std::optional<bool> truth(const std::string& name) const;      // "true", "false", "1", "0", too
  // A string, or several: a list of JSON, or a field of a form that is repeated.
  std::optional<std::vector<std::string>> texts(const std::string& name) const;

  // Whether a field is a list, as clients get one back then.
  bool is_list(const std::string& name) const;

 private:
  bool typed_ = false;
  nlohmann::json values_ = nlohmann::json::object();  // of forms: lists of strings
};

// A token in a field of the body or the query; empty: there is none, or the body cannot be read.
std::string token_in_field(const HttpRequest& request, const std::string& name);

// Throws a Refusal that names the field of the request that is wrong.
[[noreturn]] void refuse_field(std::string message, std::string field, int status = 400);

}  // namespace tessera::serve
