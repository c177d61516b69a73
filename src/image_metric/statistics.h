#pragma once

#include "image_metric/gaussian.h"

#include <cstdint>
#include <filesystem>
#include <string>

namespace tessera::image_metric {

// What is kept of a set of images, so that its features need not be computed again.
struct Statistics {
  Gaussian gaussian;
  int64_t count = 0;           // images
  std::string extractor;       // its file name; empty: not known
  std::string extractor_hash;  // its content hash; empty: not known
  std::string source;          // what the images were, for people
  std::string data = {};       // fingerprint of their data set; empty: not known
};

// A safetensors file with mu [D] and sigma [D, D], float64, and count [1], int64; what is known of
// extractor, source and data goes into its metadata. It appears once it is complete.
void save_statistics(const std::filesystem::path& path, const Statistics& statistics);

// Reads such a file, or one made elsewhere: the number of images may be called n, and a file may
// hold several sets ("mu_train" or "train_mu" and so on), of which `prefix` ("train") names one. If
// it is empty, the unnamed set is taken, or the only one. Otherwise throws Error, which names the
// existing sets.
Statistics load_statistics(const std::filesystem::path& path, const std::string& prefix = "");

// Whether there is a set of that name.
bool has_statistics(const std::filesystem::path& path, const std::string& prefix);

// Throws Error if two sets are known to come from different extractors: their distance would mean
// nothing. a_name and b_name are for the message.
void require_same_extractor(const Statistics& a, const std::string& a_name, const Statistics& b,
                            const std::string& b_name);

}  // namespace tessera::image_metric
