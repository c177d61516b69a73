#include "command.h"

#include "base/log.h"
#include "base/require.h"
#include "evaluation/image_distance.h"
#include "extractor_hint.h"
#include "image/image_source.h"
#include "image_metric/distance_name.h"
#include "image_metric/extractor.h"
#include "image_metric/frechet.h"
#include "image_metric/kernel_distance.h"
#include "image_metric/sample_warning.h"
#include "image_metric/statistics.h"
#include "option_checks.h"
#include "print_json.h"
#include "tensor/device.h"
#include "text_chart.h"

#include <ATen/ops/cat.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tessera::app {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

struct FidCommand {
  std::array<fs::path, 2> sets;
  fs::path extractor, save;
  std::string prefix;
  bool kernel = false, half = false;
  int64_t limit = 0, batch = 256;
};

// One of the two sets.
struct Side {
  std::string name;  // as the person gave it
  std::string part;  // of a file with several sets; empty: not given
  image_metric::Statistics statistics;
  at::Tensor features = {};  // [n, D] on the CPU, if they are asked for
};

bool is_statistics(const fs::path& path) {
  return path.extension() == ".safetensors";
}

// "train" is for both sets, "train,test" for one each.
std::array<std::string, 2> parts(const std::string& prefix) {
  const auto comma = prefix.find(',');
  if (comma == std::string::npos) return {prefix, prefix};
  require_option(prefix.find(',', comma + 1) == std::string::npos,
                 "--prefix takes one name, or two with a comma between, got '{}'", prefix);
  return {prefix.substr(0, comma), prefix.substr(comma + 1)};
}

void require_sense(const FidCommand& command) {
  std::error_code ignored;
  for (const fs::path& set : command.sets) {
    require(fs::exists(set, ignored), "there is no '{}'", set.string());
    const bool images = !is_statistics(set);
    if (images && command.extractor.empty())
      throw UsageError(fmt::format("'{}' holds images: --features is missing, the network that "
                                   "turns them into features",
                                   set.string()),
                       kMakeExtractor);
    require_option(images || !command.kernel,
                   "--kid needs the images of both sets, and '{}' holds their statistics only",
                   set.string());
  }
  require_option(command.save.empty() || !is_statistics(command.sets[0]),
                 "--save writes the statistics of the first set, and '{}' is such a file already",
                 command.sets[0].string());
}

Side measured_images(const FidCommand& command, const fs::path& path, const std::string& part,
                     const image_metric::Extractor& extractor) {
  std::error_code ignored;
  const bool has_parts = fs::is_directory(path, ignored);  // a single file has none
  Side side{path.string(), has_parts ? part : "", {}};
  const auto source = image::ImageSource::open(path, side.part);
  const int64_t count =
      command.limit > 0 ? std::min(command.limit, source->size()) : source->size();
  require(count >= 2, "'{}': a distance needs at least two images of a set, got {}", path.string(),
          count);
  std::vector<at::Tensor> kept;
  side.statistics = evaluation::feature_statistics(extractor, *source, count, command.batch,
                                                   "images of " + path.filename().string(),
                                                   [&](const at::Tensor& features) {
                                                     if (command.kernel)
                                                       kept.push_back(features.cpu());
                                                   });
  if (command.kernel) side.features = at::cat(kept);
  return side;
}

Side measured(const FidCommand& command, size_t which, const image_metric::Extractor* extractor) {
  const fs::path& path = command.sets[which];
  const std::string part = parts(command.prefix)[which];
  if (is_statistics(path)) return {path.string(), part, image_metric::load_statistics(path, part)};
  return measured_images(command, path, part, *extractor);
}

// Statistics made by others may not name their extractor, or give only its name.
void require_one_space(const std::array<Side, 2>& sides, const image_metric::Extractor* extractor) {
  require_same_extractor(sides[0].statistics, sides[0].name, sides[1].statistics, sides[1].name);
  if (extractor == nullptr) return;
  image_metric::Statistics own;
  own.extractor = extractor->file_name();
  own.extractor_hash = extractor->hash();
  for (const Side& side : sides) {
    require_same_extractor(side.statistics, side.name, own, extractor->file_name());
    if (side.statistics.extractor.empty() && side.statistics.extractor_hash.empty())
      log::warn("'{}' does not say which extractor it was made with: it is taken to be '{}'",
                side.name, extractor->file_name());
  }
}

struct Outcome {
  std::string extractor, hash;  // empty if the statistics do not name one
  double frechet = 0;
  std::optional<image_metric::KernelDistance> kernel = std::nullopt;
};

Outcome compare(const FidCommand& command, const std::array<Side, 2>& sides,
                const image_metric::Extractor* extractor, const GlobalOptions& globals) {
  Outcome outcome;
  for (const Side& side : sides) {
    if (outcome.extractor.empty()) outcome.extractor = side.statistics.extractor;
    if (outcome.hash.empty()) outcome.hash = side.statistics.extractor_hash;
  }
  if (extractor != nullptr) {
    outcome.extractor = extractor->file_name();
    outcome.hash = extractor->hash();
  }
  outcome.hash = outcome.hash.substr(0, 16);
  for (const Side& side : sides)
    if (const auto warning = image_metric::sample_warning(
            "'" + side.name + "'", side.statistics.count, side.statistics.gaussian.dim()))
      log::warn("{}", *warning);
  outcome.frechet =
      image_metric::frechet_distance(sides[0].statistics.gaussian, sides[1].statistics.gaussian);
  if (command.kernel) {
    image_metric::KernelDistanceOptions options;
    options.seed = globals.seed;
    const at::Device device = extractor->device();
    outcome.kernel = image_metric::kernel_distance(sides[0].features.to(device),
                                                   sides[1].features.to(device), options);
    if (const auto warning = image_metric::subset_warning(*outcome.kernel, options))
      log::warn("{}", *warning);
  }
  return outcome;
}

void print_text(const std::array<Side, 2>& sides, const Outcome& outcome) {
  std::cout << fmt::format("{} {:.4f}\n", image_metric::frechet_name(outcome.extractor),
                           outcome.frechet);
  if (outcome.kernel)
    std::cout << fmt::format("{} {:.6f} ± {:.6f}  ({} subsets of {} images)\n",
                             image_metric::kernel_name(outcome.extractor), outcome.kernel->mean,
                             outcome.kernel->deviation, outcome.kernel->subsets,
                             with_commas(outcome.kernel->subset_size));
  std::cout << fmt::format("  {} features of {}{}\n", sides[0].statistics.gaussian.dim(),
                           outcome.extractor.empty() ? "an unknown extractor" : outcome.extractor,
                           outcome.hash.empty() ? "" : " " + outcome.hash);
  for (const Side& side : sides)
    std::cout << fmt::format("  {} images: {}{}\n", with_commas(side.statistics.count), side.name,
                             side.part.empty() ? "" : " (" + side.part + ")");
}

Json side_json(const Side& side) {
  Json json{{"path", side.name}, {"images", side.statistics.count}};
  if (!side.part.empty()) json["prefix"] = side.part;
  if (!side.statistics.source.empty()) json["source"] = side.statistics.source;
  return json;
}

void print_as_json(const std::array<Side, 2>& sides, const Outcome& outcome) {
  const auto or_null = [](const std::string& text) { return text.empty() ? Json() : Json(text); };
  Json json{{"name", image_metric::frechet_name(outcome.extractor)},
            {"distance", outcome.frechet},
            {"extractor", or_null(outcome.extractor)},
            {"extractor_hash", or_null(outcome.hash)},
            {"features", sides[0].statistics.gaussian.dim()},
            {"a", side_json(sides[0])},
            {"b", side_json(sides[1])}};
  if (outcome.kernel)
    json["kernel"] = {{"name", image_metric::kernel_name(outcome.extractor)},
                      {"distance", outcome.kernel->mean},
                      {"deviation", outcome.kernel->deviation},
                      {"subsets", outcome.kernel->subsets},
                      {"subset_size", outcome.kernel->subset_size}};
  print_json(json);
}

void run_fid(const FidCommand& command, const GlobalOptions& globals) {
  require_sense(command);
  std::optional<image_metric::Extractor> network;
  if (!command.extractor.empty())
    network.emplace(command.extractor, parse_device(globals.device),
                    command.half ? at::kHalf : at::kFloat);
  const image_metric::Extractor* extractor = network ? &*network : nullptr;
  const std::array<Side, 2> sides{measured(command, 0, extractor), measured(command, 1, extractor)};
  require_one_space(sides, extractor);
  if (!command.save.empty()) image_metric::save_statistics(command.save, sides[0].statistics);
  const Outcome outcome = compare(command, sides, extractor, globals);
  if (globals.json)
    print_as_json(sides, outcome);
  else
    print_text(sides, outcome);
}

}  // namespace

void add_fid(CLI::App& program, const GlobalOptions& globals) {
  CLI::App* fid = program.add_subcommand(
      "fid", "distance between two sets of images: Fréchet distance of their features");
  fid->footer(
      "The distance is called FID only if a word of the extractor's file name begins with\n"
      "'inception', else FD and the network's or the file's name: figures of different extractors\n"
      "cannot be compared.\n"
      "  tessera fid data/cifar10 samples --features cifar10-resnet.pt --kid\n"
      "  tessera fid train.safetensors samples --features cifar10-resnet.pt");
  auto command = std::make_shared<FidCommand>();
  fid->add_option("a", command->sets[0], "a set of images, or a file with its statistics")
      ->required()
      ->option_text("IMAGES | FILE.safetensors");
  fid->add_option("b", command->sets[1], "the other one")
      ->required()
      ->option_text("IMAGES | FILE.safetensors");
  fid->add_option("--features", command->extractor,
                  "the extractor: a TorchScript file, from images [N, C, H, W] in 0 to 255 to "
                  "features [N, D]; needed for images")
      ->option_text("FILE.pt");
  fid->add_option("--prefix", command->prefix,
                  "which set of a file with several statistics, or which split of prepared data: "
                  "one name for both sets, or A,B")
      ->option_text("NAME");
  fid->add_flag("--kid", command->kernel, "the kernel distance too (100 subsets of 1,000, --seed)");
  fid->add_option("--limit", command->limit, "only the first N images of each set")
      ->check(whole_number(1))
      ->option_text("N");
  fid->add_option("--batch", command->batch, "images at a time")
      ->check(whole_number(1))
      ->capture_default_str();
  fid->add_flag("--half", command->half, "let the extractor compute in float16");
  fid->add_option("--save", command->save,
                  "write the statistics of the first set, to be given in its place")
      ->check(file_to_write())
      ->option_text("FILE.safetensors");
  fid->callback([command, &globals] { run_fid(*command, globals); });
}

}  // namespace tessera::app
