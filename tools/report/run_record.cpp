#include "report/run_record.h"

#include "base/require.h"
#include "config/config.h"
#include "config/option_text.h"
#include "files/files.h"
#include "files/json_file.h"
#include "report/run_name.h"
#include "task/stored_recipe.h"
#include "train/metrics_log.h"
#include "train/run_folder.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <sstream>

namespace tessera::report {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

std::map<std::string, std::string> read_settings(const train::RunFolder& folder) {
  std::map<std::string, std::string> settings;
  for (const auto& [key, value] : task::StoredRecipe(folder).values)
    settings[key] = config::text_of(value);
  return settings;
}

// Numbers that were not finite are null in the file and left out of a curve. So are numbers that
// are too large for any training.
void append(Series& series, const Json& line, const char* key) {
  constexpr double kMostSteps = 1e15, kMost = 1e100;
  const auto found = line.find(key);
  if (found == line.end() || !found->is_number()) return;
  const double step = line.at("step").get<double>(), value = found->get<double>();
  if (step < 0 || step > kMostSteps || std::abs(value) > kMost) return;
  series.steps.push_back(step);
  series.values.push_back(value);
}

// Shares of a whole; empty if one of them is not a share.
std::vector<double> read_histogram(const Json& json) {
  auto shares = json.get<std::vector<double>>();
  const auto is_share = [](double share) { return share >= 0 && share <= 1; };
  return std::all_of(shares.begin(), shares.end(), is_share) ? shares : std::vector<double>();
}

Sample sample_of(const Json& json) {
  return {json.at("source"), json.at("generated"), json.at("reference")};
}

void read_line(RunRecord& run, const Json& line) {
  append(run.loss, line, "loss");
  append(run.updates_per_second, line, "updates_per_second");
  append(run.learning_rate, line, "learning_rate");
  append(run.gradient_norm, line, "gradient_norm");
  append(run.valid_loss, line, "valid_loss");
  append(run.bleu, line, "valid_bleu");
  append(run.exact_match, line, "valid_exact_match");
  append(run.distance, line, "valid_distance");
  append(run.psnr, line, "valid_psnr");
  if (line.contains("valid_distance_name")) run.distance_name = line.at("valid_distance_name");
  if (line.contains("valid_exit_histogram"))
    run.exit_histogram = read_histogram(line.at("valid_exit_histogram"));
  // Pictures must be part of the page: it asks for nothing from elsewhere.
  if (line.contains("valid_images") &&
      line.at("valid_images").get<std::string>().starts_with("data:image/png;base64,"))
    run.pictures.push_back({line.at("step").get<int64_t>(), line.at("valid_images")});
  if (!line.contains("valid_examples")) return;
  run.samples.clear();
  for (const Json& each : line.at("valid_examples")) run.samples.push_back(sample_of(each));
}

std::vector<Sample> read_sentences(const fs::path& path) {
  std::vector<Sample> sentences;
  if (!fs::exists(path)) return sentences;
  std::istringstream text(read_file(path));
  try {
    for (std::string line; std::getline(text, line);)
      sentences.push_back(sample_of(Json::parse(line)));
  } catch (const nlohmann::json::exception&) {
    throw Error(
        fmt::format("line {} of '{}' is not what `tessera evaluate --out FILE.jsonl` writes",
                    sentences.size() + 1, path.string()),
        "remove the file, or evaluate the run again");
  }
  return sentences;
}

std::optional<Evaluation> read_evaluation(const fs::path& path) {
  if (!fs::exists(path)) return std::nullopt;
  try {
    const Json json = read_json(path);
    if (json.value("kind", "") == "image" || json.value("kind", "") == "autoencoder")
      return std::nullopt;  // distances stand in curves
    Evaluation evaluation{json.at("split"), json.at("sentences"), json.at("exact_match"), ""};
    if (json.contains("metrics") && !json.at("metrics").empty())
      evaluation.score_line = json.at("metrics").at(0).at("line");
    return evaluation;
  } catch (const nlohmann::json::exception& error) {
    throw Error(fmt::format("'{}' is not what `tessera evaluate --json` prints: {}", path.string(),
                            json_problem(error)));
  }
}

std::optional<Condensation> read_condensation(const fs::path& path) {
  if (!fs::exists(path)) return std::nullopt;
  try {
    return condensation_of(read_json(path));
  } catch (const nlohmann::json::exception&) {
    throw Error(fmt::format("'{}' is not what `tessera generate --show-steps --json` prints for "
                            "one sentence",
                            path.string()),
                "remove the file, or write it anew");
  }
}

}  // namespace

std::optional<Condensation> condensation_of(const Json& json) {
  Condensation condensation{json.at("source"), {}};
  for (const Json& step : json.at("steps"))
    condensation.steps.push_back({step.at("t"), step.at("point"), step.at("estimate")});
  if (condensation.steps.empty()) return std::nullopt;
  return condensation;
}

int64_t RunRecord::updates() const {
  double last = 0;
  for (const Series* series : {&loss, &valid_loss})
    if (!series->empty()) last = std::max(last, series->steps.back());
  return static_cast<int64_t>(last);
}

bool RunRecord::of_images() const {
  const auto kind = settings.find("data.kind");
  return kind != settings.end() && kind->second == "images";
}

bool RunRecord::of_codes() const {
  const auto kind = settings.find("model.kind");
  return of_images() && kind != settings.end() && kind->second == "autoencoder";
}

bool RunRecord::scored_by_exact_match() const {
  const auto score = settings.find("train.score");
  return score != settings.end() && score->second == "exact-match";
}

const Series& RunRecord::score(const RunRecord& like) const {
  if (like.of_codes()) return psnr;
  if (like.of_images()) return distance;
  return like.scored_by_exact_match() ? exact_match : bleu;
}

std::string RunRecord::score_name() const {
  if (of_codes()) return "PSNR, dB";
  if (of_images()) return distance.empty() ? "distance" : distance_name;
  return scored_by_exact_match() ? "exact match" : "BLEU";
}

RunRecord read_run(const fs::path& folder) {
  const train::RunFolder run_folder = train::RunFolder::open(folder);
  RunRecord run;
  run.name = run_name(folder);
  run.path = folder.string();
  run.settings = read_settings(run_folder);
  try {
    for (const Json& line : train::MetricsLog::read(run_folder.metrics())) read_line(run, line);
  } catch (const nlohmann::json::exception& error) {
    throw Error(
        fmt::format("'{}' is damaged: {}", run_folder.metrics().string(), json_problem(error)));
  }
  require(!run.loss.empty() || !run.valid_loss.empty(),
          "'{}' holds no measurements: the run has not logged anything yet",
          run_folder.metrics().string());
  run.evaluation = read_evaluation(folder / "evaluation.json");
  run.evaluated = read_sentences(folder / "evaluation.jsonl");
  run.condensation = read_condensation(folder / "condensation.json");
  return run;
}

}  // namespace tessera::report
