#include "experiment/columns.h"
#include "experiment/result_store.h"
#include "fuzz/reading.h"
#include "fuzz/targets.h"

#include <filesystem>

namespace tessera::fuzz {

void fuzz_results(std::string_view input) {
  std::filesystem::create_directories(work_folder() / "results");
  put("results/job.json", input);
  const experiment::ResultStore store(work_folder());
  attempt([&] {
    const auto result = store.find("job", "key");
    if (!result || !result->contains("evaluation")) return;
    const auto& evaluation = result->at("evaluation");
    for (const std::string_view key : experiment::known_column_keys()) {
      if (experiment::value_of(evaluation, key)) said().append(key).append("\n");
      experiment::metric_of(evaluation, key);
    }
    for (const char* key : {"one_step.accuracy", "bleu.ratio", "distance.value", "passes", "."})
      experiment::value_of(evaluation, key);
    store.put("again", "key", *result);
  });
}

}  // namespace tessera::fuzz
