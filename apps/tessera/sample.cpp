#include "command.h"

#include "base/log.h"
#include "base/numerals.h"
#include "base/progress.h"
#include "base/require.h"
#include "base/rounding.h"
#include "engine/image_engine.h"
#include "files/files.h"
#include "files/json_file.h"
#include "image/grid.h"
#include "image/npz.h"
#include "image/png.h"
#include "image_settings.h"
#include "option_checks.h"
#include "print_json.h"
#include "report/film.h"
#include "share.h"
#include "shipped_models.h"
#include "stop_signal.h"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace tessera::app {
namespace {

namespace fs = std::filesystem;

struct SampleCommand {
  std::vector<fs::path> folders;  // of runs or models
  ModelSettings loading;          // of all of them
  ImageSettings images;
  int64_t count = 0;  // images per model; 0: as many as the grid shows well
  int64_t columns = 0, scale = 0;
  fs::path grid, out, npz, film;
  ShareSettings share;

  bool one_model() const { return folders.size() <= 1; }  // none: the one that came with us
};

using Models = std::vector<Engine>;

const image_model::ImageModel& model_of(const Engine& engine) {
  return engine.images().model();
}

constexpr int64_t kUsualCount = 64, kUsualCountInARow = 8;
constexpr int64_t kMostInGrid = 10000, kMostInFilm = 64, kMostFrames = 60;
constexpr int64_t kPadding = 2;  // pixels between the images of a grid

// Small pictures are drawn larger, so that a person can see something.
int64_t scale_of(const SampleCommand& command, int64_t height) {
  return command.scale > 0 ? command.scale : height <= 64 ? 2 : 1;
}

// Each of several models has a row of its own.
int64_t columns_of(const SampleCommand& command, int64_t images) {
  if (!command.one_model()) return command.count;
  return std::min(images, command.columns > 0 ? command.columns : image::square_columns(images));
}

at::Tensor grid_of(const SampleCommand& command, const at::Tensor& images) {
  return image::grid(images, columns_of(command, images.size(0)), kPadding,
                     scale_of(command, images.size(2)));
}

// Checked before the images are made.
void require_grid_fits(const SampleCommand& command, const image_model::ImageShape& shape) {
  const int64_t rows_of_models = std::max<int64_t>(1, std::ssize(command.folders));
  const int64_t images = command.count * rows_of_models;
  const int64_t columns = columns_of(command, images), scale = scale_of(command, shape.height);
  const int64_t rows = ceil_div(images, columns);
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
  require_option(command.one_model() || (!command.grid.empty() && command.out.empty() &&
                                         command.npz.empty() && command.film.empty()),
                 "several models are shown in one picture: --grid FILE.png, and nothing else");
  require_option(command.one_model() || command.columns == 0,
                 "of several models each has a row of --count images: leave out --columns");
  require_option(command.grid.empty() || command.count <= kMostInGrid,
                 "a grid holds {} images at most, got --count {}", kMostInGrid, command.count);
}

// Writes the images of a sample to the outputs that were asked for.
class Outputs {
 public:
  Outputs(const SampleCommand& command, const image_model::ImageShape& shape) : command_(command) {
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

// Samples the first images once more and writes every step. Returns the network calls of an image.
int64_t write_film(const SampleCommand& command, const Engine& engine,
                   const GlobalOptions& globals) {
  const int64_t count = std::min(command.count, kMostInFilm);
  const image_model::ImageModel& model = model_of(engine);
  const Codebook& codebook = model.codebook();
  std::vector<report::FilmFrame> frames;
  ImageRequest request = request_for(count, command.images, globals);
  request.options.batch = count;  // all of them in every frame
  request.on_step = [&](const ImageStep& step) {
    const int64_t every = ceil_div(step.calls, kMostFrames);
    const SampleStep& sample = step.sample;
    if (sample.index % every == 0 || sample.index == step.calls - 1)
      frames.push_back(
          {sample.t,
           grid_of(command, model.pictures_of(sample.noisy.defined() ? sample.noisy
                                                                     : codebook.decode(sample.x))),
           grid_of(command, model.pictures_of(sample.labels))});
  };
  const ImageResult result = engine.run(std::span(&request, 1)).front();
  result.require_done();
  const int64_t calls = result.nfe;
  const SampleOptions options = options_in_effect(engine, command.images.options);
  const std::string details = fmt::format(
      "{}, {} of the network, {}seed {}.", counted(count, "image"), counted(calls, "call"),
      options.r ? fmt::format("r = {:g} in sampling, ", *options.r) : "", request.seed);
  write_file_atomically(
      command.film, report::film_page(frames, command.folders.front().filename().string(), details),
      Links::follow);
  return calls;
}

Models load(const SampleCommand& command, const GlobalOptions& globals) {
  Models models;
  for (const fs::path& folder : command.folders) {
    models.emplace_back(folder, command.loading.load_options(globals));
    options_in_effect(models.back(), command.images.options);  // reports wrong options at once
  }
  return models;
}

// Images of equal numbers begin with the same noise only if the models draw equally many numbers.
void require_alike(const SampleCommand& command, const Models& models) {
  const image_model::ImageModel& first = model_of(models.front());
  for (size_t k = 1; k < models.size(); ++k) {
    const image_model::ImageModel& other = model_of(models[k]);
    const std::string one = command.folders.front().string(), two = command.folders[k].string();
    const image_model::ImageShape &a = first.picture_shape(), &b = other.picture_shape();
    require(a == b,
            "'{}' makes images of {} x {} x {}, '{}' of {} x {} x {} (channels, height, width): "
            "they do not fit into one picture",
            one, a.channels, a.height, a.width, two, b.channels, b.height, b.width);
    if (first.shape() != other.shape())
      log::warn("'{}' and '{}' do not begin with the same noise: one of them makes other codes",
                one, two);
    else if (first.codebook().dim() != other.codebook().dim())
      log::warn("'{}' and '{}' do not begin with the same noise: a code has {} numbers and {}", one,
                two, first.codebook().dim(), other.codebook().dim());
  }
}

void say_rows(const SampleCommand& command, const Models& models) {
  for (size_t k = 0; k < models.size(); ++k)
    log::info("row {}: {} ({})", k + 1, command.folders[k].string(),
              name_of(model_of(models[k]).options().coding.kind));
}

nlohmann::ordered_json json_report(const SampleCommand& command, const Models& models,
                                   const std::vector<int64_t>& calls, uint64_t seed,
                                   double seconds) {
  nlohmann::ordered_json json{{"images", command.count}};
  if (command.one_model()) {
    json["nfe"] = calls.front();
  } else {
    for (size_t k = 0; k < models.size(); ++k)
      json["rows"].push_back({{"model", command.folders[k].string()},
                              {"coding", name_of(model_of(models[k]).options().coding.kind)},
                              {"nfe", calls[k]}});
  }
  json.update({{"seed", seed}, {"seconds", seconds}});
  return json;
}

constexpr const char* kPixels = "pixels";  // ending of blocks: [n, H, W, C] uint8

// The blocks of one of several processes.
void sample_share(const SampleCommand& command, const GlobalOptions& globals) {
  const Models models = load(command, globals);
  const Engine& engine = models.front();
  const image_model::ImageShape& shape = model_of(engine).picture_shape();
  nlohmann::ordered_json options;
  const auto add = [&](const engine::RequestOption& option, const auto& field) {
    if (field && std::string_view(option.name) != "batch") options[option.name] = *field;
  };
  const SampleOptions in_effect = options_in_effect(engine, command.images.options);
  engine::visit_sampler(in_effect, add);
  engine::visit_images(in_effect, add);
  const BlockFolder folder(command.out,
                           {{"command", "sample"},
                            {"model", fingerprint_of_model(engine.folder())},
                            {"options", options},
                            {"label", command.images.label},
                            {"seed", globals.seed},
                            {"precision", command.loading.precision},
                            {"count", command.count},
                            {"height", shape.height},
                            {"width", shape.width},
                            {"channels", shape.channels},
                            {"block", command.share.block}},
                           kPixels);
  const Shard share = command.share.share();
  const int64_t size = command.share.block, blocks = ceil_div(command.count, size);
  Progress bar("images", 0);
  const StopSignal stop;
  for (int64_t block = 0; block < blocks; ++block) {
    if (!share.owns(block) || folder.has(block)) continue;
    ImageRequest request =
        request_for(std::min(size, command.count - block * size), command.images, globals);
    request.first = block * size;
    request.stop = stop.token();
    const ImageResult result = engine.run(std::span(&request, 1)).front();
    if (result.outcome == Outcome::stopped) throw Stopped(stop.signal());
    result.require_done();
    const std::vector<uint8_t>& values = result.images.values;
    folder.write(block, {reinterpret_cast<const char*>(values.data()), values.size()});
    bar.advance(result.images.count);
  }
  folder.set_count(blocks);
}

// Puts the blocks of a folder where the images are to go.
void join_samples(SampleCommand& command) {
  image_model::ImageShape shape;
  try {
    const nlohmann::json job = job_to_join(command.share.join, "sample");
    command.count = job.at("count").get<int64_t>();
    shape = {job.at("channels").get<int64_t>(), job.at("height").get<int64_t>(),
             job.at("width").get<int64_t>()};
    image_model::check_size(shape);
  } catch (const nlohmann::json::exception& error) {
    throw Error(
        fmt::format("'{}' is damaged: {}", command.share.join.string(), json_problem(error)));
  }
  const int64_t bytes = shape.height * shape.width * shape.channels;
  if (!command.grid.empty()) {
    require_option(command.count <= kMostInGrid, "a grid holds {} images at most, and there are {}",
                   kMostInGrid, command.count);
    require_grid_fits(command, shape);
  }
  Outputs outputs(command, shape);
  int64_t seen = 0;
  BlockFolder::join(command.share.join, [&](std::string_view block) {
    Images images{std::ssize(block) / bytes, shape.height, shape.width, shape.channels, {}};
    require(images.count * bytes == std::ssize(block), "a block in '{}' is damaged",
            command.share.join.string());
    images.values.assign(block.begin(), block.end());
    seen += images.count;
    outputs.take(engine::to_pictures(images));
  });
  require(seen == command.count, "'{}' has {} images, and not {}", command.share.join.string(),
          seen, command.count);
  outputs.finish();
}

void run_sample(const SampleCommand& command, const GlobalOptions& globals) {
  const Models models = load(command, globals);
  require_alike(command, models);
  const image_model::ImageShape& shape = model_of(models.front()).picture_shape();
  const bool keeps = !command.grid.empty() || !command.out.empty() || !command.npz.empty();
  double seconds = 0;
  std::vector<int64_t> calls;  // network calls for an image, by model
  if (!command.grid.empty()) require_grid_fits(command, shape);
  if (keeps) {
    Outputs outputs(command, shape);
    Progress bar("images", command.count * static_cast<int64_t>(models.size()));
    const StopSignal stop;
    ImageRequest request = request_for(command.count, command.images, globals);
    request.stop = stop.token();
    request.take = [&](const Images& some) {
      outputs.take(engine::to_pictures(some));
      bar.advance(some.count);
    };
    const auto begin = std::chrono::steady_clock::now();
    for (const Engine& engine : models) {
      const ImageResult result = engine.run(std::span(&request, 1)).front();
      if (result.outcome == Outcome::stopped) throw Stopped(stop.signal());
      result.require_done();
      calls.push_back(result.nfe);
    }
    seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    outputs.finish();
  }
  if (!command.film.empty()) calls.push_back(write_film(command, models.front(), globals));
  if (globals.json)
    print_json(json_report(command, models, calls, globals.seed, seconds));
  else if (!command.one_model())
    say_rows(command, models);
  else if (keeps)
    log::info("{} in {}, {} each", counted(command.count, "image"), duration_text(seconds),
              counted(calls.front(), "network call"));
}

}  // namespace

void add_sample(CLI::App& program, const GlobalOptions& globals) {
  CLI::App* sample = program.add_subcommand(
      "sample", "make images: tessera sample RUN --count 64 --grid grid.png");
  sample->footer(
      "Without a RUN or a MODEL, the model that came with the program is used, if there is one:\n"
      "  tessera sample --grid clothes.png");
  auto command = std::make_shared<SampleCommand>();
  sample
      ->add_option("folder", command->folders,
                   "folder of a training run, or of a model; of several, each gets a row of the "
                   "grid, with images from the same noise")
      ->option_text("RUN|MODEL ...");
  add_loading_options(*sample, command->loading);
  engine::visit_sampler(command->images.options, FlagAdder(*sample));
  add_image_options(*sample, command->images);
  sample
      ->add_option("--count", command->count,
                   "how many images (default: 64, or 8 of each if there are several models)")
      ->check(whole_number(1))
      ->option_text("N");
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
                   "page that shows how the first images come out of the noise")
      ->check(file_to_write())
      ->option_text("FILE.html");
  command->share.block = 64;
  add_share_options(*sample, command->share, "images");
  sample->callback([command, &globals] {
    command->share.out = command->out;
    if (command->share.shared()) {
      require_option(!command->out.empty() && command->grid.empty() && command->npz.empty() &&
                         command->film.empty() && command->count > 0,
                     "--shard needs --count and --out, the folder of the blocks, and nothing else: "
                     "--join makes the pictures");
      require_option(command->one_model(), "--shard is for one model");
    } else {
      check(*command);
    }
    if (!command->share.join.empty()) {
      require_option(command->film.empty() && !command->share.shared(),
                     "--join takes --grid, --out and --npz only");
      return join_samples(*command);
    }
    if (command->folders.empty())
      command->folders.push_back(shipped_model(kShippedImageModel, "makes images"));
    if (command->count == 0)
      command->count = command->one_model() ? kUsualCount : kUsualCountInARow;
    command->share.shared() ? sample_share(*command, globals) : run_sample(*command, globals);
  });
}

}  // namespace tessera::app
