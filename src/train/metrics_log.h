#pragma once

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <filesystem>
#include <limits>
#include <vector>

namespace tessera::train {

// What was measured during a run: metrics.jsonl, one JSON object a line, in the order of writing,
// each with its "step". Numbers that are not finite are null there.
class MetricsLog {
 public:
  // Opens the file for appending, and creates it if needed; a link in its place is an Error. For a
  // run that goes on after `last_step` updates, it first drops the lines of later steps, so that no
  // step appears twice, and broken lines (the end of a killed process). 0 drops all lines with a
  // step above 0. By default only broken lines are dropped.
  explicit MetricsLog(const std::filesystem::path& path,
                      int64_t last_step = std::numeric_limits<int64_t>::max());
  ~MetricsLog();
  MetricsLog(const MetricsLog&) = delete;
  MetricsLog& operator=(const MetricsLog&) = delete;

  // Appends {"step": step, ...values}; it is in the file when this returns. If it cannot be written
  // (a full disk), the line is lost with a warning, and the run can go on: never throws, and never
  // leaves half a line.
  void write(int64_t step, const nlohmann::ordered_json& values);

  // The lines of a file, for reports; broken ones are left out. Empty if there is no file. May be
  // called while someone writes.
  static std::vector<nlohmann::ordered_json> read(const std::filesystem::path& path);

 private:
  std::filesystem::path path_;
  int descriptor_ = -1;
  int64_t lost_ = 0;  // lines in a row that could not be written
};

}  // namespace tessera::train
