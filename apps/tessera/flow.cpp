#include "command.h"

#include "base/log.h"
#include "config/config.h"
#include "files/files.h"
#include "flow/gallery.h"
#include "flow/options.h"
#include "image/png.h"
#include "print_json.h"
#include "report/training_page.h"
#include "report/translations.h"
#include "tensor/device.h"

#include <ATen/Parallel.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <chrono>
#include <filesystem>
#include <iostream>
#include <memory>
#include <vector>

namespace tessera::app {
namespace {

struct FlowCommand {
  std::filesystem::path out;
  std::vector<std::string> settings;  // configuration files and key=value, as given
  // To be shown as well.
  std::vector<std::filesystem::path> runs;
  std::filesystem::path translations, picture;
  bool dump_config = false;
};

bool is_override(const std::string& setting) {
  return setting.find('=') != std::string::npos;
}

// The command that makes the same page again.
std::string command_line(const FlowCommand& command, uint64_t seed) {
  std::string line = fmt::format("tessera flow --out {} --seed {}", command.out.string(), seed);
  for (const std::string& setting : command.settings) line += " " + setting;
  if (!command.runs.empty()) line += " --runs";
  for (const auto& run : command.runs) line += " " + run.string();
  if (!command.translations.empty()) line += " --translations " + command.translations.string();
  if (!command.picture.empty()) line += " --picture " + command.picture.string();
  return line;
}

// What models make, as sections.
std::string made_by_models(const FlowCommand& command) {
  std::string sections;
  if (!command.translations.empty())
    sections += report::translations_section(report::read_translations(command.translations));
  if (!command.picture.empty())
    sections += report::picture_section(image::png_data_uri(image::read_png(command.picture)),
                                        command.picture.stem().string());
  return sections;
}

std::string training_of(const std::vector<std::filesystem::path>& folders) {
  if (folders.empty()) return "";
  std::vector<report::RunRecord> runs;
  for (const auto& folder : folders) runs.push_back(report::read_run(folder));
  return report::training_sections(runs);
}

nlohmann::ordered_json curve_json(const flow::LearningCurve& curve) {
  nlohmann::ordered_json measured = nlohmann::ordered_json::array();
  for (size_t k = 0; k < curve.updates.size(); ++k) {
    nlohmann::ordered_json runs = nlohmann::ordered_json::array();
    for (const auto& run : curve.shares) runs.push_back(run[k]);
    measured.push_back({{"updates", curve.updates[k]},
                        {"share_right", curve.mean(k)},
                        {"standard_error", curve.standard_error(k)},
                        {"runs", runs}});
  }
  const int64_t reached = curve.updates_to_reach(0.9);
  return {{"r", curve.r},
          {"updates_to_reach_90_percent", reached > 0 ? nlohmann::ordered_json(reached) : nullptr},
          {"measured", measured}};
}

void log_curve(const flow::LearningCurve& curve) {
  const auto share = [&](size_t k) {
    return fmt::format("{:.1f} ± {:.1f} % after {} updates", 100 * curve.mean(k),
                       100 * curve.standard_error(k), curve.updates[k]);
  };
  log::info("r = {}: samples in the right cell: {}, {}", curve.r, share(curve.pictured),
            share(curve.updates.size() - 1));
}

void run_flow(const FlowCommand& command, const GlobalOptions& globals) {
  FlowOptions options;
  options.seed = globals.seed;
  config::Schema schema;
  declare(schema, "flow.", options);
  for (const std::string& setting : command.settings)
    is_override(setting) ? schema.apply_override(setting) : schema.read_file(setting);
  schema.finish();
  if (command.dump_config) {
    std::cout << schema.dump();
    return;
  }
  if (command.out.empty())
    throw UsageError("flow needs a folder to write to", "tessera flow --out DIR");

  const std::string more = made_by_models(command) + training_of(command.runs);
  std::error_code failure;
  std::filesystem::create_directories(command.out, failure);
  if (failure) throw file_error("make the folder", command.out, failure.value());

  // Such small operations are slower with threads or on a GPU.
  if (globals.threads == 0) at::set_num_threads(1);
  const at::Device device = globals.device == "auto" ? at::kCPU : parse_device(globals.device);
  const auto began = std::chrono::steady_clock::now();
  const flow::Gallery gallery =
      flow::make_gallery(options, device, {command_line(command, globals.seed), more});
  for (const auto& [name, bytes] : gallery.files) write_file_atomically(command.out / name, bytes);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - began;

  const flow::Comparison& comparison = gallery.comparison;
  log_curve(comparison.plain);
  log_curve(comparison.boundary);
  log::info("{} files in {:.1f} s; open the page in a browser:", gallery.files.size(),
            seconds.count());
  const std::string page = (command.out / "index.html").string();
  if (!globals.json) {
    std::cout << page << '\n';
    return;
  }
  const nlohmann::ordered_json result = {
      {"page", page},
      {"seed", options.seed},
      {"codes", options.codes},
      {"sampler_steps", options.sampler_steps},
      {"samples", options.samples},
      {"curves", {curve_json(comparison.plain), curve_json(comparison.boundary)}}};
  print_json(result);
}

}  // namespace

void add_flow(CLI::App& program, const GlobalOptions& globals) {
  CLI::App* flow = program.add_subcommand("flow", "pictures of the method, as one page and SVG");
  auto command = std::make_shared<FlowCommand>();
  flow->add_option("--out", command->out, "folder to write to; created if it does not exist")
      ->type_name("DIR");
  flow->add_option("settings", command->settings, "configuration files and key=value settings")
      ->option_text("CONFIG.toml|flow.key=value ...");
  flow->add_option("--runs", command->runs,
                   "training runs whose report (see `tessera report`) to append to the page")
      ->option_text("RUN...");
  flow->add_option(
          "--translations", command->translations,
          "what `tessera generate --json` printed, to show on the page; with --show-steps, "
          "how the last sentence condensed, too")
      ->option_text("FILE.jsonl");
  flow->add_option("--picture", command->picture, "a grid of images to show on the page")
      ->option_text("FILE.png");
  flow->add_flag("--dump-config", command->dump_config,
                 "print the configuration in effect and stop");
  flow->callback([command, &globals] { run_flow(*command, globals); });
}

}  // namespace tessera::app
