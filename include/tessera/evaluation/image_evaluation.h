#pragma once

#include <tessera/base/api.h>
#include <tessera/engine/engine.h>
#include <tessera/evaluation/reconstruction.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace tessera {

// How a model of images is measured.
struct ImageEvaluationOptions {
  int64_t count = 10000;  // images to make
  // TorchScript file of the network whose features are compared. It is code: name no file that
  // you do not trust.
  std::filesystem::path features = {};
  // Statistics of the features of the training images: read where the file is there, else computed
  // and written to it; empty: computed, and kept nowhere.
  std::filesystem::path statistics = {};
  SampleOptions sampling = {};
  std::string label = {};  // a class by name or number; empty: one after the other
  uint64_t seed = 1;
  bool kernel = false;   // the kernel distance, too
  bool nearest = false;  // look for the nearest training images of the first ones
  bool warm_up = true;   // make some images before: speed is that of a warm machine
  std::function<void(const Images& some)> take = {};  // sees all images, some at a time
  std::stop_token stop = {};                          // Error where it is asked
};

struct ImageEvaluation {
  int64_t images = 0;         // made
  double distance = 0;        // Fréchet, of their features to those of the training images
  std::string distance_name;  // "FID" only of Inception's features, else "FD-..."
  std::string extractor, extractor_hash;

  struct Kernel {
    std::string name;                // "KID", "KD-..."
    double mean = 0, deviation = 0;  // over the subsets
    int64_t subsets = 0, subset_size = 0;
  };
  std::optional<Kernel> kernel = {};

  // What an extractor that is a classifier says of the images.
  struct Recognition {
    double confidence = 0;         // above which an image counts as recognised
    double share = 0;              // of the images
    std::vector<double> by_class;  // share of the images
  };
  std::optional<Recognition> recognition = {};

  // Has the model learnt images by heart? Root mean square of the differences of values (0 to 255)
  // to the nearest training image, median.
  struct Nearest {
    double made = 0, held_out = 0;  // of images that were made, and of real ones
    Images pairs;                   // an image that was made, its neighbour, the next one, ...
  };
  std::optional<Nearest> nearest = {};

  // Of a model of an autoencoder's codes: what the autoencoder alone does to training images, as
  // many as were made. The distance of the model is to be read beside that.
  std::optional<Reconstruction> floor = {};

  int64_t nfe = 0;                         // network calls of an image
  double seconds = 0;                      // to make the images
  SampleOptions options = {};              // in effect
  std::vector<std::string> warnings = {};  // of figures that say little, for people

  double images_per_second() const { return static_cast<double>(images) / seconds; }
};

// Makes images and measures how far they are from the training images of a data set.
//   data  a folder that `tessera prepare --images` wrote; of codes, the images they were made from
//         are meant
TESSERA_API ImageEvaluation evaluate_images(const Engine& engine, const std::filesystem::path& data,
                                            const ImageEvaluationOptions& options);

}  // namespace tessera
