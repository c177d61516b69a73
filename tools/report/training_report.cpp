#include <tessera/report/training_report.h>

#include "report/training_page.h"

#include <vector>

namespace tessera {

std::string training_report(std::span<const std::filesystem::path> runs,
                            const std::string& command) {
  std::vector<report::RunRecord> records;
  for (const auto& run : runs) records.push_back(report::read_run(run));
  return report::training_page(records, command);
}

}  // namespace tessera
