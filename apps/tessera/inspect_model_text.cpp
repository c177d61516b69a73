#include "base/numerals.h"
#include "inspection.h"
#include "text_chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

namespace tessera::app {
namespace {

std::string string_of(const Report& value) {
  return value.get<std::string>();
}

std::string count_of(const Report& value) {
  return with_commas(value.get<int64_t>());
}

std::string number_or_dash(const Report& value, int digits) {
  return value.is_null() ? "-" : fmt::format("{:.{}f}", value.get<double>(), digits);
}

std::string plain(const Report& value) {  // as one would type it
  if (value.is_null()) return "none";
  return value.is_string() && value != "" ? string_of(value) : value.dump();
}

std::string checkpoints_text(const Report& checkpoints) {
  if (checkpoints.empty()) return "\ncheckpoints: none\n";
  std::string text =
      fmt::format("\ncheckpoints\n  {:>11} {:>10} {:>11}\n", "step", "score", "size");
  for (const Report& each : checkpoints) {
    text +=
        fmt::format("  {:>11} {:>10} {:>11}", count_of(each["step"]),
                    number_or_dash(each["score"], 4), byte_count(each["bytes"].get<uint64_t>()));
    if (each["best"]) text += "  best";
    if (each["last"]) text += "  last";
    text += "\n";
  }
  return text;
}

std::string history_text(const Report& history) {
  if (history["rows"].empty()) return "\nhistory: nothing measured yet\n";
  // Only scores that were measured.
  std::vector<std::pair<const char*, const char*>> scores;
  for (const auto& score : {std::pair{"bleu", "BLEU"}, std::pair{"exact_match", "exact match"},
                            std::pair{"distance", "distance"}, std::pair{"psnr", "PSNR"}})
    if (std::any_of(history["rows"].begin(), history["rows"].end(),
                    [&](const Report& row) { return !row[score.first].is_null(); }))
      scores.push_back(score);
  constexpr const char* kRow = "  {:<5} {:>11} {:>10} {:>16}";
  std::string text = "\nhistory\n" + fmt::format(kRow, "", "step", "loss", "validation loss");
  for (const auto& [key, title] : scores) text += fmt::format(" {:>12}", title);
  text += "\n";
  for (const Report& row : history["rows"]) {
    text += fmt::format(kRow, string_of(row["what"]), count_of(row["step"]),
                        number_or_dash(row["loss"], 4), number_or_dash(row["valid_loss"], 4));
    for (const auto& [key, title] : scores)
      text += fmt::format(" {:>12}", number_or_dash(row[key], 2));
    text += "\n";
  }
  const auto losses = history["losses"].get<std::vector<double>>();
  if (losses.size() > 1)
    text +=
        fmt::format("  loss {:.4f} {} {:.4f}\n", losses.front(), sparkline(losses), losses.back());
  return text;
}

std::string options_text(const Report& options) {
  if (options.empty()) return "\noptions: all have their defaults\n";
  std::string text = "\noptions (and their defaults, where they differ)\n";
  size_t widest = 0;
  for (const auto& [key, option] : options.items()) widest = std::max(widest, key.size());
  for (const auto& [key, option] : options.items()) {
    text += fmt::format("  {:<{}} = {}", key, widest, plain(option["value"]));
    if (option["value"] != option["default"])
      text += fmt::format("  ({})", plain(option["default"]));
    text += "\n";
  }
  return text;
}

std::string parameters_text(const Report& parameters) {
  const auto total = parameters["total"].get<int64_t>();
  std::string text = fmt::format("\nparameters: {}\n", with_commas(total));
  for (const auto& [name, count] : parameters["parts"].items())
    text += fmt::format("  {:<17} {:>13} {:>8}\n", name, count_of(count),
                        percent(count.get<double>() / static_cast<double>(total)));
  return text;
}

std::string boundary_text(const Report& boundary) {
  std::string text = "\nboundary, with the noise of training\n" + measured_on(boundary);
  const auto share = [&](const char* key) { return percent(boundary[key].get<double>()); };
  text += fmt::format("  outside their cell {}, never leave it {}\n", share("outside"),
                      share("no_exit"));
  const auto histogram = boundary["histogram"].get<std::vector<double>>();
  text += fmt::format("  t0/T, mean {:.3f}\n{}", boundary["mean"].get<double>(),
                      histogram_bars(histogram));
  return text;
}

// How well the true symbol can be read from the points a network is shown.
std::string ranks_text(const Report& ranks) {
  if (ranks["rows"].empty()) return "";
  std::string text = fmt::format(
      "\nmedian rank of the true symbol at the points the network is shown, by t / T ({} tokens;\n"
      "1: the point decodes to it, and there is nothing to learn)\n  {:>18}",
      count_of(ranks["tokens"]), "");
  for (const double time : ranks["times"].get<std::vector<double>>())
    text += fmt::format(" {:>6.2f}", time);
  text += fmt::format(" {:>9}\n", "mean ln");
  for (const Report& row : ranks["rows"]) {
    text += fmt::format("  r = {:<4} F = {:<4}{}  ", row["r"].get<double>(),
                        row["noise_factor"].get<double>(), row["own"].get<bool>() ? "*" : " ");
    for (const double rank : row["median"].get<std::vector<double>>())
      text += fmt::format(" {:>6.0f}", rank);
    text += fmt::format(" {:>9.2f}\n", row["mean_log"].get<double>());
  }
  return text + "  (*: as it was trained)\n";
}

std::string loaded_text(const Report& model) {
  std::string text =
      fmt::format("\nmodel {}\n  kind {}, format {}, weights of {}\n", string_of(model["folder"]),
                  string_of(model["kind"]), count_of(model["format"]),
                  byte_count(model["bytes"].get<uint64_t>()));
  const auto number = [&](const char* key) { return model[key].get<int64_t>(); };
  if (model["kind"] == "image")
    text += fmt::format("  images of {} x {}, {}, as {}; {}{}\n", number("width"), number("height"),
                        counted(number("channels"), "colour"), string_of(model["coding"]),
                        counted(std::ssize(model["classes"]), "class", "classes"),
                        model["conditional"].get<bool>() ? ", which it is told" : "");
  else if (model["kind"] == "autoencoder")
    text += fmt::format("  images of {} x {}, {}, as {} x {} codes of {}\n", number("width"),
                        number("height"), counted(number("channels"), "colour"),
                        number("code_width"), number("code_height"), number("codes"));
  else
    text +=
        fmt::format("  {} symbols ({}, {} text{}), {} can be decoded\n", count_of(model["symbols"]),
                    string_of(model["tokenizer"]), model["raw"].get<bool>() ? "raw" : "tokenised",
                    languages_text(model["languages"]), count_of(model["decodable"]));
  if (model["kind"] == "image" && !model["codes"].is_null())
    text +=
        fmt::format("  made of {} x {} codes of {}, by the autoencoder that is in the folder\n",
                    model["codes"]["width"].get<int64_t>(), model["codes"]["height"].get<int64_t>(),
                    model["codes"]["symbols"].get<int64_t>());
  if (!model["attribution"].is_null())
    text += fmt::format("  {}\n", string_of(model["attribution"]));
  text += parameters_text(model["parameters"]);
  if (model.contains("options")) text += options_text(model["options"]);
  const Report norms = model.value("code_norms", Report());
  if (!norms.is_null())
    text += fmt::format(
        "\nlength of the codes before normalisation ({}): {:.3f} to {:.3f}, mean {:.3f}\n",
        string_of(norms["normalised"]), norms["min"].get<double>(), norms["max"].get<double>(),
        norms["mean"].get<double>());
  if (!model.value("boundary", Report()).is_null())
    text += boundary_text(model["boundary"]) +
            ranks_text(model["boundary"].value("ranks", Report{{"rows", Report::array()}}));
  if (model.contains("schedule")) text += schedule_text(model["schedule"]);
  if (!model.value("noise", Report()).is_null()) text += noise_text(model["noise"]);
  return text;
}

}  // namespace

std::string languages_text(const Report& languages) {
  if (languages.is_null()) return "";
  return fmt::format(", from {} to {}", string_of(languages["source"]),
                     string_of(languages["target"]));
}

std::string measured_on(const Report& statistics) {
  if (statistics["data"].is_null())
    return fmt::format("  on {} random labels: {}\n", count_of(statistics["tokens"]),
                       string_of(statistics["reason"]));
  return fmt::format("  on {} tokens: {} of {} sentences of {} in {}\n",
                     count_of(statistics["tokens"]), count_of(statistics["sentences"]),
                     count_of(statistics["sentences_of_split"]), string_of(statistics["split"]),
                     string_of(statistics["data"]));
}

std::string model_text(const Report& report) {
  if (report["kind"] == "model") return loaded_text(report["model"]).substr(1);  // no empty line
  std::string text = fmt::format("run {}", string_of(report["path"]));
  if (report.contains("history")) {
    const Report& rows = report["history"]["rows"];
    text += fmt::format(": {} of {} updates, scored by {}",
                        rows.empty() ? "0" : count_of(rows.back()["step"]),
                        count_of(report["steps"]), string_of(report["score"]));
  }
  text += "\n" + checkpoints_text(report["checkpoints"]);
  if (report.contains("history"))
    text += history_text(report["history"]) + options_text(report["options"]);
  if (!report["model"].is_null()) text += loaded_text(report["model"]);
  return text;
}

}  // namespace tessera::app
