#include "experiment/columns.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace tessera::experiment {
namespace {

constexpr std::array<KnownColumn, 7> kColumns{{{"bleu", "BLEU", "BLEU", "bleu"},
                                               {"chrf", "chrF2", "chrF2", "chrf"},
                                               {"chrf++", "chrF2++", "chrF2++", "chrf++"},
                                               {"rouge1", "ROUGE-1", "ROUGE-1", "rouge"},
                                               {"rouge2", "ROUGE-2", "ROUGE-2", "rouge"},
                                               {"rougeL", "ROUGE-L", "ROUGE-L", "rouge"},
                                               {"exact", "exact match, %", "", ""}}};

// The value at a dotted path; numbers are places in a list.
const Json* at_path(const Json& json, std::string_view path) {
  const Json* node = &json;
  while (node != nullptr && !path.empty()) {
    const size_t dot = std::min(path.find('.'), path.size());
    const std::string_view part = path.substr(0, dot);
    path.remove_prefix(std::min(dot + 1, path.size()));
    size_t place = 0;
    const auto [end, failure] = std::from_chars(part.data(), part.data() + part.size(), place);
    const bool number = failure == std::errc() && end == part.data() + part.size();
    if (node->is_array())
      node = number && place < node->size() ? &(*node)[place] : nullptr;
    else
      node = node->contains(std::string(part)) ? &(*node)[std::string(part)] : nullptr;
  }
  return node;
}

}  // namespace

const KnownColumn* known_column(std::string_view key) {
  const auto found = std::find_if(kColumns.begin(), kColumns.end(),
                                  [&](const KnownColumn& column) { return column.key == key; });
  return found == kColumns.end() ? nullptr : &*found;
}

std::vector<std::string_view> known_column_keys() {
  std::vector<std::string_view> keys;
  for (const KnownColumn& column : kColumns) keys.push_back(column.key);
  return keys;
}

const Json* metric_of(const Json& evaluation, std::string_view key) {
  const KnownColumn* known = known_column(key);
  const auto metrics = evaluation.find("metrics");
  if (!known || known->name.empty() || metrics == evaluation.end()) return nullptr;
  for (const Json& metric : *metrics)
    if (metric.value("name", "") == known->name) return &metric;
  return nullptr;
}

std::string_view metric_asked(std::string_view key) {
  const KnownColumn* known = known_column(key.substr(0, key.find('.')));
  return known ? known->asked : "";
}

std::optional<double> value_of(const Json& evaluation, std::string_view key) {
  const size_t dot = std::min(key.find('.'), key.size());
  const KnownColumn* known = known_column(key.substr(0, dot));
  const Json* node = nullptr;
  if (!known) {
    node = at_path(evaluation, key);
  } else if (known->name.empty()) {
    node = at_path(evaluation, "exact_match");
  } else if (const Json* metric = metric_of(evaluation, known->key)) {
    node = at_path(*metric, dot == key.size() ? "score" : key.substr(dot + 1));
  }
  if (!node || !node->is_number()) return std::nullopt;
  return node->get<double>();
}

}  // namespace tessera::experiment
