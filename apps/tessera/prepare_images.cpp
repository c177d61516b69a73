#include "prepare_images.h"

#include "base/log.h"
#include "base/numerals.h"
#include "evaluation/image_codes.h"
#include "image/prepare.h"
#include "print_json.h"
#include "tensor/device.h"
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

constexpr const char* kCodes = "codes";  // in place of a format of images

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
  const std::string content = manifest.codes ? fmt::format("codes of {}", manifest.codes->symbols)
                                             : std::string(manifest.channels == 1 ? "grey" : "RGB");
  log::info("{} x {} {}, {}", manifest.width, manifest.height, content,
            manifest.classes.empty()
                ? std::string("no classes")
                : fmt::format("{}: {}", counted(std::ssize(manifest.classes), "class", "classes"),
                              fmt::join(manifest.classes, ", ")));
  log::info("fingerprint {}, {:.1f} s", manifest.fingerprint(), seconds);
}

image::Manifest prepare_pixels(const PrepareImages& command) {
  if (!command.with.empty())
    throw UsageError("--with names an autoencoder: it goes with --images codes");
  image::PrepareOptions options;
  options.format = parse_name<image::Format>(command.format);
  options.from = command.from;
  options.out = command.out;
  options.valid = held_out(command.valid);
  options.replace = command.replace;
  return image::prepare(options);
}

image::Manifest prepare_codes(const PrepareImages& command, const GlobalOptions& globals) {
  if (command.with.empty())
    throw UsageError("--images codes needs the autoencoder that makes them",
                     "tessera prepare --images codes --with RUN --from DATA --out DIR");
  if (!command.valid.empty())
    throw UsageError("codes have the splits of their images: --valid does not go with them");
  return evaluation::encode_images({.autoencoder = command.with,
                                    .from = command.from,
                                    .out = command.out,
                                    .replace = command.replace},
                                   parse_device(globals.device));
}

}  // namespace

void prepare_images(const PrepareImages& command, const GlobalOptions& globals) {
  if (command.from.empty())
    throw UsageError("--images needs the folder the images are in",
                     "tessera prepare --images FORMAT --from DIR --out DIR");
  const auto began = std::chrono::steady_clock::now();
  const image::Manifest manifest =
      command.format == kCodes ? prepare_codes(command, globals) : prepare_pixels(command);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - began;

  log_summary(manifest, seconds.count());
  if (!globals.json) {
    std::cout << command.out.string() << '\n';
    return;
  }
  auto report = nlohmann::ordered_json::parse(manifest.json());
  report["folder"] = command.out.string();
  report["seconds"] = seconds.count();
  print_json(report);
}

}  // namespace tessera::app
