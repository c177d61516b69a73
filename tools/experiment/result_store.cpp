#include "experiment/result_store.h"

#include "base/log.h"
#include "files/files.h"
#include "files/json_file.h"

#include <algorithm>

namespace tessera::experiment {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

namespace {

// Whether a result is an object whose texts, evaluation and metrics have the expected types.
bool is_whole(const Json& json, const char* field) {
  const auto is_text = [](const Json& object, const char* name) {
    return !object.contains(name) || object[name].is_string();
  };
  if (!json.is_object() || !json.contains("key")) return false;
  if (!is_text(json, "key") || !is_text(json, field) || !is_text(json, "command")) return false;
  if (!json.contains("evaluation")) return true;
  const Json& evaluation = json["evaluation"];
  if (!evaluation.is_object() || !is_text(evaluation, "split")) return false;
  if (!evaluation.contains("metrics")) return true;
  const Json& metrics = evaluation["metrics"];
  return metrics.is_array() && std::all_of(metrics.begin(), metrics.end(), [&](const Json& metric) {
           return metric.is_object() && is_text(metric, "name") && is_text(metric, "signature");
         });
}

}  // namespace

void ResultStore::make_folders() const {
  for (const char* name : {"runs", "data", "results", "logs"}) {
    std::error_code failure;
    fs::create_directories(folder_ / name, failure);
    if (failure) throw file_error("make the folder", folder_ / name, failure.value());
    remove_leftovers(folder_ / name);
  }
  remove_leftovers(folder_);
}

fs::path ResultStore::result(const std::string& name) const {
  return folder_ / "results" / (name + ".json");
}

fs::path ResultStore::hypotheses(const std::string& name) const {
  return folder_ / "results" / (name + ".txt");
}

fs::path ResultStore::log(const std::string& name) const {
  return folder_ / "logs" / (name + ".log");
}

fs::path ResultStore::output(const std::string& name) const {
  return folder_ / "logs" / (name + ".out");
}

std::optional<Json> ResultStore::find(const std::string& name, const std::string& key,
                                      const char* field) const {
  const fs::path path = result(name);
  if (!is_there(path)) return std::nullopt;
  const Json json = parse_json(read_file(path));
  if (!is_whole(json, field)) {
    log::warn("'{}' is damaged: it will be made again", path.string());
    return std::nullopt;
  }
  if (json.value(field, "") != key) return std::nullopt;
  return json;
}

void ResultStore::put(const std::string& name, const std::string& key, const Json& result) const {
  Json json{{"key", key}};
  json.update(result);
  write_file_atomically(this->result(name), json.dump(2) + "\n");
}

}  // namespace tessera::experiment
