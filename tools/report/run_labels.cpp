#include "report/run_labels.h"

#include <fmt/format.h>

#include <set>

namespace tessera::report {

std::vector<Difference> differences(std::span<const RunRecord> runs) {
  static const std::set<std::string> places{"train.out", "data.dir"};
  std::set<std::string> keys;
  for (const RunRecord& run : runs)
    for (const auto& [key, value] : run.settings)
      if (!places.contains(key)) keys.insert(key);
  std::vector<Difference> found;
  for (const std::string& key : keys) {
    Difference difference{key, {}};
    for (const RunRecord& run : runs) {
      const auto setting = run.settings.find(key);
      difference.values.push_back(setting == run.settings.end() ? "" : setting->second);
    }
    const std::set<std::string> different(difference.values.begin(), difference.values.end());
    if (different.size() > 1) found.push_back(std::move(difference));
  }
  return found;
}

std::vector<std::string> run_labels(std::span<const RunRecord> runs) {
  std::vector<std::string> labels;
  const std::vector<Difference> found = differences(runs);
  if (found.size() == 1) {
    const std::string& key = found.front().key;
    const std::set<std::string> different(found.front().values.begin(), found.front().values.end());
    if (different.size() == runs.size()) {
      for (const std::string& value : found.front().values)
        labels.push_back(fmt::format("{} = {}", key.substr(key.rfind('.') + 1), value));
      return labels;
    }
  }
  std::set<std::string> names;
  for (const RunRecord& run : runs) names.insert(run.name);
  const bool unique = names.size() == runs.size();
  for (const RunRecord& run : runs) labels.push_back(unique ? run.name : run.path);
  return labels;
}

}  // namespace tessera::report
