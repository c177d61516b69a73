#include "image_metric/statistics.h"

#include "fuzz/reading.h"
#include "fuzz/targets.h"
#include "image_metric/frechet.h"

namespace tessera::fuzz {

void fuzz_statistics(std::string_view input) {
  const auto path = put("statistics.safetensors", input);
  for (const char* prefix : {"", "train"}) {
    attempt([&] {
      image_metric::has_statistics(path, prefix);
      const auto read = image_metric::load_statistics(path, prefix);
      image_metric::require_same_extractor(read, "one", read, "the same");
      image_metric::frechet_distance(read.gaussian, read.gaussian);
    });
  }
}

}  // namespace tessera::fuzz
