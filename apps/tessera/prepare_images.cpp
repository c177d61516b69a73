#include "prepare_images.h"

#include "base/log.h"
#include "image/prepare.h"
#include "print_json.h"
#include "text_chart.h"

#include <tessera/base/error.h>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <charconv>
#include <chrono>
#include <iostream>

namespace tessera::app {
namespace {

int64_t held_out(const std::vector<std::string>& words) {
  if (words.empty()) return 0;
  int64_t number = 0;
  const std::string& word = words.front();
  const auto [end, failure] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (words.size() > 1 || failure != std::errc{} || end != word.data() + word.size() || number < 0)
    throw UsageError(fmt::format("with --images, --valid takes a number of images, not '{}'",
                                 fmt::join(words, " ")),
                     "--valid 5000 holds out the last 5,000 training images");
  return number;
}

void log_summary(const image::Manifest& manifest, double seconds) {
  constexpr const char* row = "{:<6} {:>11}";
  log::info(row, "split", "images");
  for (const char* name : {"train", "valid", "test"})
    if (manifest.splits.contains(name)) log::info(row, name, with_commas(manifest.splits.at(name)));
  log::info("{} x {} {}, {}", manifest.width, manifest.height,
            manifest.channels == 1 ? "grey" : "RGB",
            manifest.classes.empty() ? std::string("no classes")
                                     : fmt::format("{} classes: {}", manifest.classes.size(),
                                                   fmt::join(manifest.classes, ", ")));
  log::info("fingerprint {}, {:.1f} s", manifest.fingerprint(), seconds);
}

}  // namespace

void prepare_images(const PrepareImages& command, const GlobalOptions& globals) {
  image::PrepareOptions options;
  options.format = parse_name<image::Format>(command.format);
  options.from = command.from;
  options.out = command.out;
  options.valid = held_out(command.valid);
  options.replace = command.replace;
  if (command.from.empty())
    throw UsageError("--images needs the folder the images are in",
                     "tessera prepare --images FORMAT --from DIR --out DIR");
  const auto began = std::chrono::steady_clock::now();
  const image::Manifest manifest = image::prepare(options);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - began;

  log_summary(manifest, seconds.count());
  if (!globals.json) {
    std::cout << options.out.string() << '\n';
    return;
  }
  auto report = nlohmann::ordered_json::parse(manifest.json());
  report["folder"] = options.out.string();
  report["seconds"] = seconds.count();
  print_json(report);
}

}  // namespace tessera::app
