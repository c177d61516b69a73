#include "command.h"

#include "base/files.h"
#include "base/log.h"
#include "base/numerals.h"
#include "base/progress.h"
#include "base/require.h"
#include "base/rounding.h"
#include "image/grid.h"
#include "image/npz.h"
#include "image/png.h"
#include "image_settings.h"
#include "option_checks.h"
#include "print_json.h"
#include "report/film.h"
#include "train/stop_signal.h"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <vector>

namespace tessera::app {
namespace {

namespace fs = std::filesystem;

struct SampleCommand {
  SamplerSettings sampler;
  ImageSettings images;
  int64_t count = 64, columns = 0, scale = 0;
  fs::path grid, out, npz, film;
};

constexpr int64_t kMostInGrid = 10000, kMostInFilm = 64, kMostFrames = 60;
constexpr int64_t kPadding = 2;  // pixels between the images of a grid

// Small pictures are drawn larger, so that a person can see something.
int64_t scale_of(const SampleCommand& command, int64_t height) {
  return command.scale > 0 ? command.scale : height <= 64 ? 2 : 1;
}

int64_t columns_of(const SampleCommand& command, int64_t images) {
  return std::min(images, command.columns > 0 ? command.columns : image::square_columns(images));
}

at::Tensor grid_of(const SampleCommand& command, const at::Tensor& images) {
  return image::grid(images, columns_of(command, images.size(0)), kPadding,
                     scale_of(command, images.size(2)));
}

// Before the images are made.
void require_grid_fits(const SampleCommand& command, const imaging::ImageShape& shape) {
  const int64_t columns = columns_of(command, command.count),
                scale = scale_of(command, shape.height);
  const int64_t rows = ceil_div(command.count, columns);
  const int64_t width = image::grid_side(columns, shape.width * scale, kPadding);
  const int64_t height = image::grid_side(rows, shape.height * scale, kPadding);
  require_option(std::max(width, height) <= image::kLongestSide,
                 "the grid would have {} x {} pixels, and a picture has {} a side at most: choose "
                 "--columns, --scale or a lower --count",
                 width, height, image::kLongestSide);
}

void check(const SampleCommand& command) {
  require_option(!command.grid.empty() || !command.out.empty() || !command.npz.empty() ||
                     !command.film.empty(),
                 "say where the images go: --grid FILE.png, --out FOLDER, --npz FILE or "
                 "--show-steps FILE.html");
  require_option(command.grid.empty() || command.grid.extension() == ".png",
                 "--grid writes a PNG: name a file that ends in .png, got '{}'",
                 command.grid.string());
  require_option(command.grid.empty() || command.count <= kMostInGrid,
                 "a grid holds {} images at most, got --count {}", kMostInGrid, command.count);
}

// The images of a sample, kept where they are asked for.
class Keeper {
 public:
  Keeper(const SampleCommand& command, const imaging::ImageShape& shape) : command_(command) {
    if (!command.out.empty()) {
      std::error_code failure;
      fs::create_directories(command.out, failure);
      if (failure) throw file_error("make the folder", command.out, failure.value());
      require(fs::is_empty(command.out, failure),
              "'{}' is not empty: images would get mixed with what is there", command.out.string());
    }
    if (command.npz.empty()) return;
    npz_.emplace(command.npz);
    npz_->begin("images", at::kByte, {command.count, shape.height, shape.width, shape.channels});
  }

  void take(const at::Tensor& images) {  // [n, C, H, W]
    if (!command_.grid.empty()) for_grid_.push_back(images);
    if (npz_) npz_->append(images.permute({0, 2, 3, 1}).contiguous());
    if (!command_.out.empty())
      for (int64_t i = 0; i < images.size(0); ++i)
        image::write_png(command_.out / fmt::format("{:06}.png", seen_ + i), images[i]);
    seen_ += images.size(0);
  }

  void finish() {
    if (npz_) npz_->commit();
    if (!command_.grid.empty())
      image::write_png(command_.grid, grid_of(command_, at::cat(for_grid_)));
  }

 private:
  const SampleCommand& command_;
  std::optional<image::NpzWriter> npz_;
  std::vector<at::Tensor> for_grid_;
  int64_t seen_ = 0;
};

// The first images once more, step by step.
void write_film(const SampleCommand& command, const LoadedImages& loaded) {
  const int64_t count = std::min(command.count, kMostInFilm);
  const int64_t calls = loaded.generator().calls();
  const int64_t every = ceil_div(calls, kMostFrames);
  const Codebook& codebook = loaded.model().codebook();
  std::vector<report::FilmFrame> frames;
  loaded.generator().generate(
      0, count, imaging::classes_of(loaded.classes(), 0, count), [&](const SampleStep& step) {
        if (step.index % every == 0 || step.index == calls - 1)
          frames.push_back({step.t, grid_of(command, imaging::pictures_of(codebook.decode(step.x))),
                            grid_of(command, imaging::pictures_of(step.labels))});
        return true;
      });
  const auto& sampler = loaded.options().sampler;
  const std::string details =
      fmt::format("{}, {} of the network, r = {:g} in sampling, seed {}.", counted(count, "image"),
                  counted(calls, "call"), loaded.r(), sampler.seed);
  write_file_atomically(
      command.film, report::film_page(frames, command.sampler.folder.filename().string(), details));
}

void run_sample(const SampleCommand& command, const GlobalOptions& globals) {
  check(command);
  const LoadedImages loaded(command.sampler, command.images, globals);
  const bool keeps = !command.grid.empty() || !command.out.empty() || !command.npz.empty();
  double seconds = 0;
  if (!command.grid.empty()) require_grid_fits(command, loaded.model().shape());
  if (keeps) {
    Keeper keeper(command, loaded.model().shape());
    Progress bar("images", command.count);
    const train::StopSignal stop;
    const auto begin = std::chrono::steady_clock::now();
    loaded.generator().stream(
        0, command.count, loaded.classes(),
        [&](const at::Tensor& images) {
          keeper.take(images);
          bar.advance(images.size(0));
        },
        [&] {
          if (stop.requested()) throw train::Stopped(stop.signal());
        });
    seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    keeper.finish();
  }
  if (!command.film.empty()) write_film(command, loaded);
  if (globals.json)
    print_json(nlohmann::ordered_json{{"images", command.count},
                                      {"nfe", loaded.generator().calls()},
                                      {"seed", loaded.options().sampler.seed},
                                      {"seconds", seconds}});
  else if (keeps)
    log::info("{} in {}, {} each", counted(command.count, "image"), duration_text(seconds),
              counted(loaded.generator().calls(), "network call"));
}

}  // namespace

void add_sample(CLI::App& program, const GlobalOptions& globals) {
  CLI::App* sample = program.add_subcommand(
      "sample", "make images: tessera sample RUN --count 64 --grid grid.png");
  auto command = std::make_shared<SampleCommand>();
  add_sampler_options(*sample, command->sampler);
  add_image_options(*sample, command->images);
  sample->add_option("--count", command->count, "how many images")
      ->check(whole_number(1))
      ->capture_default_str();
  sample->add_option("--grid", command->grid, "all images in one PNG")
      ->check(file_to_write())
      ->option_text("FILE.png");
  sample->add_option("--columns", command->columns, "of the grid (default: as many as rows)")
      ->check(whole_number(1))
      ->option_text("N");
  sample
      ->add_option("--scale", command->scale,
                   "side of a pixel in the grid (default: 2 for images up to 64 pixels high)")
      ->check(whole_number(1, 64))
      ->option_text("N");
  sample->add_option("--out", command->out, "folder for one PNG per image")->option_text("FOLDER");
  sample->add_option("--npz", command->npz, "file that numpy reads: images [N, H, W, C] uint8")
      ->option_text("FILE.npz");
  sample
      ->add_option("--show-steps", command->film,
                   "page that plays how the first images condense out of noise")
      ->check(file_to_write())
      ->option_text("FILE.html");
  sample->callback([command, &globals] { run_sample(*command, globals); });
}

}  // namespace tessera::app
