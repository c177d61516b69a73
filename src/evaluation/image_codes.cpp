#include "evaluation/image_codes.h"

#include "base/progress.h"
#include "base/require.h"
#include "files/model_files.h"
#include "files/output_folder.h"
#include "image/dataset_writer.h"
#include "image_model/autoencoder_folder.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace tessera::evaluation {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kCodedAtOnce = 128;  // images
constexpr const char* kFrom = "from";  // option of a manifest: the folder of the images

//   images [n, C, H, W] uint8 -> [n, 1, h, w] int16, on the CPU
at::Tensor codes_of(const image_model::Autoencoder& model, const at::Tensor& images) {
  return model.encode(images.permute({0, 2, 3, 1}).to(model.device()))
      .permute({0, 3, 1, 2})
      .to(at::kShort)
      .cpu();
}

}  // namespace

image::Manifest encode_images(const EncodingOptions& options, at::Device device) {
  const auto existing = options.replace ? image::DatasetWriter::Existing::replace
                                        : image::DatasetWriter::Existing::refuse;
  image::DatasetWriter::check_folder(options.out, existing);
  const image::Dataset dataset(options.from, /*verify_contents=*/true);
  dataset.require_pixels("an autoencoder");
  const fs::path folder = find_model_folder(options.autoencoder);
  const auto model = image_model::load_autoencoder_folder(folder, device);
  const image_model::ImageShape &shape = model->shape(), grid = model->grid();
  require(shape == image_model::ImageShape({dataset.channels(), dataset.height(), dataset.width()}),
          "the images in '{}' are {} x {} with {} channels, those of the autoencoder in '{}' {} x "
          "{} with {}",
          options.from.string(), dataset.width(), dataset.height(), dataset.channels(),
          folder.string(), shape.width, shape.height, shape.channels);

  image::DatasetWriter writer(options.out, dataset.classes(), existing,
                              image::Manifest::Codes{grid.symbols, dataset.fingerprint()});
  for (const auto& [name, count] : dataset.manifest().splits) {
    const image::Split& split = dataset.split(name);
    std::vector<at::Tensor> codes, mirrored;
    Progress bar("encoding " + name, count);
    for (int64_t begin = 0; begin < count; begin += kCodedAtOnce) {
      const int64_t some = std::min(kCodedAtOnce, count - begin);
      const at::Tensor images = split.images().narrow(0, begin, some);
      codes.push_back(codes_of(*model, images));
      mirrored.push_back(codes_of(*model, images.flip(3)));
      bar.advance(some);
    }
    writer.add_codes(name, at::cat(codes), at::cat(mirrored), split.labels());
  }
  writer.add_file(image_model::kAutoencoderFile,
                  [&](const fs::path& path) { image_model::save_autoencoder(path, *model); });
  return writer.commit({{"images", "codes"},
                        {kFrom, full_path(options.from).string()},
                        {"with", full_path(options.autoencoder).string()},
                        {"checkpoint", folder.filename().string()}});
}

image::Dataset images_behind(const fs::path& folder) {
  image::Dataset dataset(folder);
  if (!dataset.holds_codes()) return dataset;
  const auto& manifest = dataset.manifest();
  const auto from = manifest.options.find(kFrom);
  require(from != manifest.options.end(), "'{}' does not say which images its codes stand for",
          folder.string());
  constexpr const char* kHint = "name the folder they are in now: --data DIR";
  if (!image::Manifest::is_in(from->second))
    throw Error(fmt::format("the images that the codes in '{}' were made from are not in '{}'",
                            folder.string(), from->second),
                kHint);
  image::Dataset images(from->second);
  if (images.fingerprint() != manifest.codes->images)
    throw Error(
        fmt::format("the images in '{}' are not those that the codes in '{}' were made from",
                    from->second, folder.string()),
        kHint);
  return images;
}

}  // namespace tessera::evaluation
