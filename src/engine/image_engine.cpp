#include "engine/image_engine.h"

#include "base/require.h"
#include "engine/option_checks.h"
#include "engine/sampler_changes.h"
#include "engine/step_rows.h"
#include "tensor/cudnn_benchmark.h"
#include "tensor/machine_memory.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <algorithm>

namespace tessera::engine {
namespace {

// An image to be made.
struct Row {
  size_t request = 0;  // its place in the call
  int64_t number = 0;
};

// Rows begin .. end - 1 of a batch, all of one request.
struct Part {
  size_t request = 0;
  int64_t begin = 0, end = 0;
};

std::vector<Part> parts_of(std::span<const Row> batch) {
  std::vector<Part> parts;
  for (size_t k = 0; k < batch.size(); ++k) {
    const auto row = static_cast<int64_t>(k);
    if (parts.empty() || parts.back().request != batch[k].request)
      parts.push_back({batch[k].request, row, row});
    parts.back().end = row + 1;
  }
  return parts;
}

struct NobodyWaits {};

}  // namespace

Images to_images(const at::Tensor& pictures) {
  const at::Tensor rows = pictures.permute({0, 2, 3, 1}).contiguous();
  const auto* values = rows.const_data_ptr<uint8_t>();
  return {.count = rows.size(0),
          .height = rows.size(1),
          .width = rows.size(2),
          .channels = rows.size(3),
          .values = {values, values + rows.numel()}};
}

at::Tensor to_pictures(const Images& images) {
  at::Tensor rows =
      at::empty({images.count, images.height, images.width, images.channels}, at::kByte);
  std::copy(images.values.begin(), images.values.end(), rows.mutable_data_ptr<uint8_t>());
  return rows.permute({0, 3, 1, 2}).contiguous();
}

// Requests of a call whose images are made together.
struct ImageEngine::Group {
  image_model::SamplingOptions options;
  bool watched = false;  // all of them, or none
  std::vector<size_t> members = {};
};

struct ImageEngine::Call {
  std::span<const ImageRequest> requests;
  std::span<ImageResult> results;
  std::vector<image_model::ClassRule> classes;  // of the requests

  // Whether a request's images are still to be made.
  bool waits(size_t k) const {
    return results[k].outcome == Outcome::done && !requests[k].stop.stop_requested();
  }
  void fail(size_t k) const {
    results[k] = {.outcome = Outcome::failed, .failure = std::current_exception()};
  }
};

namespace {

nn::Precision precision_of(const LoadOptions& options, at::Device device) {
  const nn::Precision precision = nn::parse_precision(options.precision, device);
  require_option(precision != nn::Precision::int8,
                 "precision int8 is for text: models of images take float32 or bfloat16");
  return precision;
}

}  // namespace

ImageEngine::ImageEngine(const std::filesystem::path& model_folder, const LoadOptions& options,
                         at::Device device)
    : loaded_(image_model::load_image_folder(model_folder, device, precision_of(options, device))) {
  require_option(options.reranker.empty(), "a reranker is not for models of images");
}

std::vector<std::string> ImageEngine::classes() const {
  return model().classes() > 0 ? loaded_.classes : std::vector<std::string>();
}

Images ImageEngine::image_size() const {
  const image_model::ImageShape& shape = model().picture_shape();
  return {.count = 0,
          .height = shape.height,
          .width = shape.width,
          .channels = shape.channels,
          .values = {}};
}

image_model::SamplingOptions ImageEngine::resolved(const SampleOptions& changes,
                                                   Spelling spelling) const {
  check_options(changes, model(), spelling);
  image_model::SamplingOptions options = loaded_.sampling;
  options.sampler = changed(options.sampler, changes);
  options.sampler.seed = 0;  // every request has its own
  options.guidance = changes.guidance.value_or(options.guidance);
  options.sampler.time_difference =
      changes.time_difference.value_or(options.sampler.time_difference);
  options.batch = changes.batch.value_or(options.batch);
  return options;
}

SampleOptions ImageEngine::in_effect(const SampleOptions& changes, Spelling spelling) const {
  const image_model::SamplingOptions options = resolved(changes, spelling);
  const image_model::ImageGenerator checked(model(), options);
  SampleOptions result;
  describe(options.sampler, model().family(), result);
  result.guidance = options.guidance;
  if (model().family().process() != nullptr)
    result.time_difference = options.sampler.time_difference;
  result.batch = options.batch;
  return result;
}

std::vector<ImageResult> ImageEngine::run(std::span<const ImageRequest> requests) const {
  std::vector<ImageResult> results(requests.size());
  Call call{requests, results, std::vector<image_model::ClassRule>(requests.size())};
  std::vector<Group> groups;
  for (size_t k = 0; k < requests.size(); ++k) {
    const ImageRequest& request = requests[k];
    try {
      require_option(request.count >= 0 && request.first >= 0,
                     "count and first must not be negative, got {} and {}", request.count,
                     request.first);
      call.classes[k] = image_model::class_rule(request.label, loaded_.classes, model());
      Images& images = results[k].images = image_size();
      if (!request.take) {
        const int64_t bytes = images.height * images.width * images.channels;  // of an image
        require_memory(static_cast<double>(request.count) * static_cast<double>(bytes),
                       fmt::format("images of {} x {} pixels, {} at a time", images.width,
                                   images.height, request.count),
                       "ask for fewer at a time");
        images.values.reserve(static_cast<size_t>(request.count * bytes));
      }
      const image_model::SamplingOptions options = resolved(request.options, Spelling::field);
      const bool watched = static_cast<bool>(request.on_step);
      auto group = std::ranges::find_if(groups, [&](const Group& each) {
        return each.options == options && each.watched == watched;
      });
      if (group == groups.end()) group = groups.insert(group, Group{options, watched});
      group->members.push_back(k);
    } catch (...) {
      call.fail(k);
    }
  }
  for (const Group& group : groups) {
    try {
      run_group(group, call);
    } catch (...) {
      for (const size_t k : group.members) call.fail(k);
    }
  }
  for (size_t k = 0; k < requests.size(); ++k)
    if (results[k].outcome == Outcome::done && requests[k].stop.stop_requested())
      results[k] = {.outcome = Outcome::stopped};
  return results;
}

void ImageEngine::run_group(const Group& group, const Call& call) const {
  const c10::NoGradGuard no_grad;
  const CudnnBenchmark benchmark(model().device());
  image_model::SamplingOptions options = group.options;
  options.sampler.seed = call.requests[group.members.front()].seed;
  const image_model::ImageGenerator generator(model(), options);
  for (const size_t k : group.members) call.results[k].nfe = generator.calls();

  // Makes the images of a batch and hands them out.
  const auto make = [&](std::span<const Row> batch) {
    const std::vector<Part> parts = parts_of(batch);
    std::vector<int64_t> numbers, classes, seeds;
    bool same_seed = true;
    for (const Row& row : batch) {
      const uint64_t seed = call.requests[row.request].seed;
      numbers.push_back(row.number);
      seeds.push_back(static_cast<int64_t>(seed));
      same_seed &= seed == options.sampler.seed;
      if (const image_model::ClassRule& rule = call.classes[row.request])
        classes.push_back(rule(row.number));
    }
    const auto tensor = [](const std::vector<int64_t>& values) {
      return at::tensor(values, at::kLong);
    };
    image_model::ImageRows rows{tensor(numbers)};
    if (!classes.empty()) rows.classes = tensor(classes);
    if (!same_seed) rows.seeds = tensor(seeds);

    StepCallback watch;
    if (group.watched)
      watch = [&](const SampleStep& all) {
        for (const Part& part : parts) {
          if (!call.waits(part.request)) continue;
          try {
            call.requests[part.request].on_step({rows_of(all, part.begin, part.end - part.begin),
                                                 batch[static_cast<size_t>(part.begin)].number,
                                                 generator.calls()});
          } catch (...) {
            call.fail(part.request);
          }
        }
        return true;
      };
    const auto pause = [&] {
      if (std::ranges::none_of(parts, [&](const Part& part) { return call.waits(part.request); }))
        throw NobodyWaits();
    };
    try {
      const at::Tensor pictures = generator.generate(rows, watch, pause);
      for (const Part& part : parts) {
        if (!call.waits(part.request)) continue;
        try {
          Images some = to_images(pictures.narrow(0, part.begin, part.end - part.begin));
          if (const auto& take = call.requests[part.request].take) {
            take(some);
            continue;
          }
          Images& images = call.results[part.request].images;
          images.count += some.count;
          images.values.insert(images.values.end(), some.values.begin(), some.values.end());
        } catch (...) {
          call.fail(part.request);
        }
      }
    } catch (const NobodyWaits&) {
    } catch (...) {
      for (const Part& part : parts) call.fail(part.request);
    }
  };

  std::vector<Row> batch;
  for (const size_t k : group.members) {
    const ImageRequest& request = call.requests[k];
    for (int64_t n = 0; n < request.count && call.waits(k); ++n) {
      batch.push_back({k, request.first + n});
      if (static_cast<int64_t>(batch.size()) < options.batch) continue;
      make(batch);
      batch.clear();
    }
  }
  if (!batch.empty()) make(batch);
}

}  // namespace tessera::engine
