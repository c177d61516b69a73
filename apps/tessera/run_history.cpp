#include "run_history.h"

#include "train/metrics_log.h"

#include <map>
#include <optional>

namespace tessera::app {
namespace {

// What was measured at a step: updates and validation write a line each.
struct Row {
  std::optional<double> loss, valid_loss, bleu, exact_match, distance, psnr;
};
using Rows = std::map<int64_t, Row>;

void take(std::optional<double>& field, const Report& line, const char* key) {
  const auto found = line.find(key);
  if (found != line.end() && found->is_number()) field = found->get<double>();
}

Rows read_rows(const std::filesystem::path& metrics) {
  Rows rows;
  for (const Report& line : train::MetricsLog::read(metrics)) {
    const auto step = line.find("step");
    if (step == line.end() || !step->is_number_integer()) continue;
    Row& row = rows[step->get<int64_t>()];
    take(row.loss, line, "loss");
    take(row.valid_loss, line, "valid_loss");
    take(row.bleu, line, "valid_bleu");
    take(row.exact_match, line, "valid_exact_match");
    take(row.distance, line, "valid_distance");
    take(row.psnr, line, "valid_psnr");
  }
  return rows;
}

// `score` has the names of train.score.
std::optional<double> score_of(const Row& row, const std::string& score) {
  if (score == "bleu") return row.bleu;
  if (score == "exact-match") return row.exact_match;
  if (score == "psnr") return row.psnr;
  const auto& lower_is_better = score == "distance" ? row.distance : row.valid_loss;
  return lower_is_better ? std::optional(-*lower_is_better) : std::nullopt;
}

Rows::const_iterator find_best(const Rows& rows, const std::string& kind) {
  auto best = rows.end();
  for (auto row = rows.begin(); row != rows.end(); ++row) {
    const auto score = score_of(row->second, kind);
    if (score && (best == rows.end() || *score > *score_of(best->second, kind))) best = row;
  }
  return best;
}

Report row_report(const char* what, const Rows::value_type& row) {
  const auto json = [](const std::optional<double>& value) {
    return value ? Report(*value) : Report(nullptr);
  };
  return {{"what", what},
          {"step", row.first},
          {"loss", json(row.second.loss)},
          {"valid_loss", json(row.second.valid_loss)},
          {"bleu", json(row.second.bleu)},
          {"exact_match", json(row.second.exact_match)},
          {"distance", json(row.second.distance)},
          {"psnr", json(row.second.psnr)}};
}

}  // namespace

Report history_report(const std::filesystem::path& metrics, const std::string& score) {
  const Rows rows = read_rows(metrics);
  Report shown = Report::array(), losses = Report::array();
  if (!rows.empty()) {
    shown.push_back(row_report("first", *rows.begin()));
    auto best = find_best(rows, score);
    if (best == rows.end()) best = find_best(rows, "loss");
    if (best != rows.end()) shown.push_back(row_report("best", *best));
    shown.push_back(row_report("last", *rows.rbegin()));
  }
  for (const auto& [step, row] : rows)
    if (row.loss) losses.push_back(*row.loss);
  return {{"rows", shown}, {"losses", losses}};
}

}  // namespace tessera::app
