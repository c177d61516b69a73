#include "fuzz/targets.h"

#include <algorithm>
#include <array>

namespace tessera::fuzz {
namespace {

constexpr std::array kTargets{Target{"arrays", fuzz_arrays},
                              Target{"autoencoder", fuzz_autoencoder},
                              Target{"bpe", fuzz_bpe},
                              Target{"cifar10", fuzz_cifar10},
                              Target{"configuration", fuzz_configuration},
                              Target{"corpus", fuzz_corpus},
                              Target{"idx", fuzz_idx},
                              Target{"image_model", fuzz_image_model},
                              Target{"image_set", fuzz_image_set},
                              Target{"lines", fuzz_lines},
                              Target{"manifests", fuzz_manifests},
                              Target{"markup", fuzz_markup},
                              Target{"png", fuzz_png},
                              Target{"requests", fuzz_requests},
                              Target{"results", fuzz_results},
                              Target{"run_record", fuzz_run_record},
                              Target{"safetensors", fuzz_safetensors},
                              Target{"statistics", fuzz_statistics},
                              Target{"table", fuzz_table},
                              Target{"text_metric", fuzz_text_metric},
                              Target{"text_model", fuzz_text_model},
                              Target{"tokenizer", fuzz_tokenizer},
                              Target{"unicode", fuzz_unicode}};

}  // namespace

std::span<const Target> targets() {
  return kTargets;
}

const Target* find_target(std::string_view name) {
  const auto found = std::ranges::find(kTargets, name, &Target::name);
  return found == kTargets.end() ? nullptr : &*found;
}

}  // namespace tessera::fuzz
