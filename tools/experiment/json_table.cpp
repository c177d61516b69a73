#include "experiment/findings.h"

#include "experiment/front.h"

#include <tessera/version.h>

namespace tessera::experiment {
namespace {

Json contest_json(const Contest& contest) {
  return {{"difference", contest.difference},
          {"p_value", contest.p_value},
          {"seeds", contest.seeds},
          {"lines", contest.lines},
          {"signature", contest.signature}};
}

Json score_json(const Score& score) {
  Json json{{"seeds", score.seeds},
            {"mean", score.seeds > 0 ? Json(score.mean) : Json()},
            {"deviation", score.deviation ? Json(*score.deviation) : Json()}};
  if (score.contest) json["against_base"] = contest_json(*score.contest);
  return json;
}

Json measured_json(const Measured& measured, const Table& table) {
  Json json{{"seed", measured.seed},
            {"status", status_text(measured.state->status)},
            {"command", measured.command}};
  if (!measured.state->message.empty()) json["message"] = measured.state->message;
  if (!measured.done()) return json;
  for (size_t k = 0; k < table.columns.size(); ++k)
    json["values"][table.columns[k].key] = measured.values[k] ? Json(*measured.values[k]) : Json();
  json["evaluation"] = measured.report;
  return json;
}

Json cell_json(const FoundCell& found, const Table& table) {
  Json json{{"row", found.cell->row},
            {"column", found.cell->column},
            {"model", found.cell->model},
            {"evaluate", found.cell->evaluate},
            {"status", status_text(found.status())},
            {"scores", Json::object()},
            {"runs", Json::array()}};
  for (size_t k = 0; k < table.columns.size(); ++k)
    json["scores"][table.columns[k].key] = score_json(found.scores[k]);
  for (const Measured& measured : found.measured)
    json["runs"].push_back(measured_json(measured, table));
  return json;
}

Json made_json(const FoundJob& job) {
  Json json{{"what", job.job->title},
            {"kind", job.job->kind == JobKind::training ? "training" : "distillation"},
            {"model", job.job->model},
            {"seed", job.job->seed},
            {"folder", job.job->folder.string()},
            {"status", status_text(job.state->status)},
            {"command", job.command}};
  if (!job.state->message.empty()) json["message"] = job.state->message;
  return json;
}

}  // namespace

Json json_table(const Findings& findings) {
  const Table& table = *findings.table;
  Json json{
      {"title", table.title},     {"note", table.note},          {"file", table.file.string()},
      {"version", version()},     {"command", findings.command}, {"base", table.base},
      {"columns", Json::array()}, {"cells", Json::array()},      {"made", Json::array()}};
  for (const Column& column : table.columns)
    json["columns"].push_back({{"key", column.key}, {"title", column.title}});
  for (const FoundCell& cell : findings.cells) json["cells"].push_back(cell_json(cell, table));
  if (table.front) json["front"] = front_json(findings);
  for (const FoundJob& job : findings.made) json["made"].push_back(made_json(job));
  return json;
}

}  // namespace tessera::experiment
