#include "corpus/manifest.h"
#include "files/checkpoint_manifest.h"
#include "files/json_file.h"
#include "fuzz/reading.h"
#include "fuzz/targets.h"
#include "image/manifest.h"
#include "train/divergence.h"
#include "train/early_stop.h"

#include <nlohmann/json.hpp>

namespace tessera::fuzz {

// Reads one text as every kind of JSON file that our folders hold beside models.
void fuzz_manifests(std::string_view input) {
  const auto path = put("manifest.json", input);
  attempt([&] {
    const auto manifest = CheckpointManifest::read(work_folder());
    manifest.total_size();
    manifest.damage(work_folder());
  });
  attempt([&] { corpus::Manifest::load(work_folder()).check_files(work_folder(), true); });
  attempt([&] { image::Manifest::load(work_folder()).check_files(work_folder(), true); });
  image::Manifest::is_in(work_folder());
  // The state of a training.
  attempt([&] {
    const nlohmann::json state = read_json(path);
    if (!state.is_object() || !state.contains("early_stop") || !state.contains("divergence"))
      return;
    train::EarlyStop stop({.patience = 2});
    stop.restore(state["early_stop"]);
    stop.add(1, 0.5);
    stop.reason();
    train::DivergenceWatch watch;
    watch.restore(state["divergence"]);
    for (int64_t step = 1; step <= 60; ++step) watch.add(step, 1.0);
    watch.state();
  });
}

}  // namespace tessera::fuzz
