#include <tessera/flow/method_pictures.h>

#include "flow/gallery.h"

namespace tessera {

std::map<std::string, std::string> method_pictures(const std::vector<std::string>& settings,
                                                   uint64_t seed) {
  FlowOptions options;
  options.seed = seed;
  config::Schema schema;
  declare(schema, "flow.", options);
  for (const std::string& setting : settings) schema.apply_override(setting);
  schema.finish();
  return flow::make_gallery(options, at::kCPU, {}).files;
}

}  // namespace tessera
