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
  // File with the statistics of the training images' features: read if it exists, else computed and
  // written. Empty: computed and not kept.
  std::filesystem::path statistics = {};
  SampleOptions sampling = {};
  std::string label = {};  // a class by name or number; empty: all classes in turn
  uint64_t seed = 1;
  bool kernel = false;   // also compute the kernel distance
  bool nearest = false;  // find the training images nearest to the first images
  bool warm_up = true;   // make some images first, so that the speed is that of a warm machine
  std::function<void(const Images& some)> take = {};  // receives all images, some at a time
  std::stop_token stop = {};                          // a request to stop throws Error
};

struct ImageEvaluation {
  int64_t images = 0;         // made
  double distance = 0;        // Fréchet distance of their features to those of the training images
  std::string distance_name;  // "FID" for Inception's features, else "FD-..."
  std::string extractor, extractor_hash;

  struct Kernel {
    std::string name;                // "KID", "KD-..."
    double mean = 0, deviation = 0;  // over the subsets
    int64_t subsets = 0, subset_size = 0;
  };
  std::optional<Kernel> kernel = {};

  // What the extractor says about the images, if it is a classifier.
  struct Recognition {
    double confidence = 0;         // above it an image counts as recognised
    double share = 0;              // of the images
    std::vector<double> by_class;  // share of the images
  };
  std::optional<Recognition> recognition = {};

  // Has the model learnt images by heart? Distances to the nearest training image: root mean square
  // of the differences of values (0 to 255), median over images.
  struct Nearest {
    double made = 0, held_out = 0;  // of images the model made and of real ones
    Images pairs;                   // an image the model made, its neighbour, the next image, ...
  };
  std::optional<Nearest> nearest = {};

  // For a model of an autoencoder's codes: what the autoencoder alone does to training images, as
  // many as were made. The model's distance should be compared with that.
  std::optional<Reconstruction> floor = {};

  int64_t nfe = 0;                         // network calls per image
  double seconds = 0;                      // to make the images
  SampleOptions options = {};              // in effect
  std::vector<std::string> warnings = {};  // about figures that mean little; for people

  double images_per_second() const { return static_cast<double>(images) / seconds; }
};

// Makes images and measures how far they are from the training images of a data set.
//   data  a folder that `tessera prepare --images` wrote. If it holds codes, the images are those
//         that the codes were made from.
TESSERA_API ImageEvaluation evaluate_images(const Engine& engine, const std::filesystem::path& data,
                                            const ImageEvaluationOptions& options);

}  // namespace tessera
