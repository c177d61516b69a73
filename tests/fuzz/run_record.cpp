#include "report/run_record.h"

#include "fuzz/reading.h"
#include "fuzz/targets.h"
#include "report/training_page.h"
#include "train/metrics_log.h"

#include <nlohmann/json.hpp>

#include <array>

namespace tessera::fuzz {

void fuzz_run_record(std::string_view input) {
  using Values = nlohmann::ordered_json;
  put_parts(parts_of(input), {"config.toml", "metrics.jsonl", "evaluation.json", "evaluation.jsonl",
                              "condensation.json"});
  attempt([&] {
    const std::array runs{report::read_run(work_folder()), report::read_run(work_folder())};
    const std::string page = report::training_page(runs, "tessera report");
    expect(page.size() < (size_t{1} << 26), "a page is not larger than a browser can show");
  });
  attempt([&] {
    train::MetricsLog(work_folder() / "metrics.jsonl", 100).write(101, Values::object());
  });
}

}  // namespace tessera::fuzz
