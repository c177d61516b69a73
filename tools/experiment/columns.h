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
  std::string_view asked;  // what `tessera evaluate --metric` must be asked for
};

// nullptr where the key is none of them: it then says where its number stands, in the JSON of an
// evaluation ("one_step.accuracy") or of one of its metrics ("bleu.ratio").
const KnownColumn* known_column(std::string_view key);
std::vector<std::string_view> known_column_keys();

// The metric of an evaluation that a column shows, with its signature; nullptr: there is none.
const Json* metric_of(const Json& evaluation, std::string_view key);

// What `tessera evaluate --metric` must be asked for, for a column; empty: nothing.
std::string_view metric_asked(std::string_view key);

// The number of an evaluation that a column shows.
std::optional<double> value_of(const Json& evaluation, std::string_view key);

}  // namespace tessera::experiment
