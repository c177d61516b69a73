#pragma once

#include <nlohmann/json.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::experiment {

using Json = nlohmann::ordered_json;

// A metric that a column of a table can show by a short name.
struct KnownColumn {
  std::string_view key;    // in the table's file: "bleu"
  std::string_view title;  // "BLEU"
  std::string_view name;   // in the JSON of `tessera evaluate`; empty: none of its metrics
  std::string_view asked;  // the name for `tessera evaluate --metric`
};

// nullptr if the key is none of them: it is then the path of a number, in the JSON of an evaluation
// ("one_step.accuracy") or of one of its metrics ("bleu.ratio").
const KnownColumn* known_column(std::string_view key);
std::vector<std::string_view> known_column_keys();

// The metric of an evaluation that a column shows, with its signature; nullptr: there is none.
const Json* metric_of(const Json& evaluation, std::string_view key);

// The name for `tessera evaluate --metric` that a column needs; empty: none.
std::string_view metric_asked(std::string_view key);

// The number of an evaluation that a column shows.
std::optional<double> value_of(const Json& evaluation, std::string_view key);

}  // namespace tessera::experiment
