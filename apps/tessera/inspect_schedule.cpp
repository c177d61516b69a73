#include "inspection.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

namespace tessera::app {
namespace {

constexpr int64_t kTimesShown = 10, kPositionsShown = 12;

}  // namespace

Report schedule_report(const Process& process) {
  if (!process.warp()) return nullptr;
  const TimeWarp& warp = *process.warp();
  const auto horizon = static_cast<double>(warp.horizon());
  std::vector<double> times;
  for (int64_t k = 1; k <= kTimesShown; ++k)
    times.push_back(static_cast<double>(k) / static_cast<double>(kTimesShown));
  const at::Tensor told =
      (at::tensor(times, at::kDouble) * horizon).to(warp.table().device());  // [n]
  const int64_t positions = std::min(kPositionsShown, warp.positions());
  const at::Tensor shares = (warp(told, positions) / horizon).t().cpu().contiguous();
  Report report{{"positions", warp.positions()}, {"times", times}, {"rows", Report::array()}};
  for (int64_t position = 0; position < positions; ++position) {
    const double* row = shares.const_data_ptr<double>() + position * kTimesShown;
    report["rows"].push_back(std::vector<double>(row, row + kTimesShown));
  }
  return report;
}

std::string schedule_text(const Report& schedule) {
  std::string text = fmt::format(
      "\nschedule of the first {} of {} positions, tau / T by t / T (the figures above leave it "
      "out)\n"
      "  {:<12}",
      schedule["rows"].size(), schedule["positions"].get<int64_t>(), "");
  for (const double time : schedule["times"].get<std::vector<double>>())
    text += fmt::format(" {:>6.2f}", time);
  text += "\n";
  int64_t position = 0;
  for (const Report& row : schedule["rows"]) {
    text += fmt::format("  {:<12}", ++position);
    for (const double tau : row.get<std::vector<double>>()) text += fmt::format(" {:>6.2f}", tau);
    text += "\n";
  }
  return text;
}

}  // namespace tessera::app
