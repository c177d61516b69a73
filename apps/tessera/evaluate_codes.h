#pragma once

#include "command.h"
#include "evaluate_images.h"

#include <tessera/evaluation/reconstruction.h>

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace tessera::app {

// `tessera evaluate` of an autoencoder of images.
void evaluate_codes(const ModelSettings& model, const ImageMeasuring& measuring,
                    const GlobalOptions& globals);

// Throws UsageError for options of `evaluate` that mean nothing for an autoencoder.
void require_measures_codes(const CLI::App& evaluate);

// What came back of images from their codes, as JSON and in a line.
nlohmann::ordered_json json_of(const Reconstruction& found);
std::string text_of(const Reconstruction& found);

}  // namespace tessera::app
