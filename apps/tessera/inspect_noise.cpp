#include "inspection.h"
#include "symbols/noise_statistics.h"
#include "text_chart.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <string>
#include <vector>

namespace tessera::app {
namespace {

constexpr int64_t kTimes = 10;

std::string row(const char* name, const std::vector<double>& shares) {
  std::string text = fmt::format("  {:<12}", name);
  for (const double share : shares) text += fmt::format(" {:>7.1f}", 100 * share);
  return text + "\n";
}

}  // namespace

Report noise_report(const SymbolFamily& family, const at::Tensor& labels) {
  const Codebook& codebook = family.codebook();
  const at::Tensor rows = codebook.rows_of(labels.to(codebook.device())).cpu();
  const at::Tensor known = rows.masked_select(rows.ge(0));
  if (known.numel() == 0) return nullptr;
  const SymbolProcess& process = family.symbol_process();
  const at::Tensor counts = at::bincount(known, {}, codebook.decodable()).to(at::kDouble);
  const NoiseStatistics found = noise_statistics(process, counts, kTimes);
  Report report{{"tokens", known.numel()},
                {"noise", name_of(process.options().noise)},
                {"masks", process.kernel().has_mask()},
                {"times", found.times}};
  if (!found.survival.empty())
    report.update(
        {{"schedule", name_of(process.options().survival.kind)}, {"survival", found.survival}});
  report.update({{"changed", found.changed}, {"information", found.information}});
  return report;
}

std::string noise_text(const Report& noise) {
  const auto shares = [&](const char* key) { return noise[key].get<std::vector<double>>(); };
  const bool survival = noise.contains("survival");
  std::string text = fmt::format(
      "\nnoise of symbols ({}{}), in percent, by t / T\n", noise["noise"].get<std::string>(),
      survival ? fmt::format(", {} schedule", noise["schedule"].get<std::string>()) : "");
  text += measured_on(noise) + fmt::format("  {:<12}", "");
  for (const double time : shares("times")) text += fmt::format(" {:>7.2f}", time);
  text += "\n";
  if (survival) text += row("left alone", shares("survival"));
  text += row(noise["masks"].get<bool>() ? "masked" : "changed", shares("changed"));
  text += row("information", shares("information"));
  return text +
         "  (left alone: alpha; information: what the noisy symbol alone says of the clean one,\n"
         "  as a share of the entropy of the symbols)\n";
}

}  // namespace tessera::app
