#pragma once

#include "fuzz/reading.h"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <string>
#include <string_view>

// Makes a manifest with the contents of a damaged one, but with hashes and sizes that fit. So the
// code behind these checks is reached.
namespace tessera::fuzz {

using Json = nlohmann::ordered_json;

// An integer member of an object; 0 if there is none.
inline int64_t number_in(const Json& object, const char* key) {
  if (!object.is_object() || !object.contains(key)) return 0;
  return object[key].is_number_integer() ? object[key].template get<int64_t>() : 0;
}

// The items of a member that is an object; none if it is not an object.
inline auto members_of(const Json& object, const char* key) {
  static const Json kEmpty = Json::object();
  const bool there = object.is_object() && object.contains(key) && object[key].is_object();
  return (there ? object[key] : kEmpty).items();
}

// Writes manifest.json into the work folder. Text that is no JSON object is written unchanged.
//   read  fills the fields that only this kind of manifest has
template <class Manifest, class Read>
void put_manifest(std::string_view text, const Read& read) {
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) {
    put(Manifest::kFileName, text);
    return;
  }
  Manifest made;
  for (const auto& [name, stamp] : members_of(json, "files")) {
    std::error_code failure;
    const uint64_t bytes = std::filesystem::file_size(work_folder() / name, failure);
    made.files[name] = {failure ? 0 : bytes, "0"};
  }
  read(json, made);
  put(Manifest::kFileName, made.json());
}

}  // namespace tessera::fuzz
