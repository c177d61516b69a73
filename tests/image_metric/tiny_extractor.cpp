#include "image_metric/tiny_extractor.h"

#include <torch/script.h>

namespace tessera::test {

void write_torch_script(const std::filesystem::path& path, const std::string& source) {
  torch::jit::Module module("extractor");
  module.define(source);
  module.save(path.string());
}

void write_tiny_extractor(const std::filesystem::path& path) {
  write_torch_script(path, R"(
def forward(self, x):
    return torch.cat([x.mean([2, 3]), x.amax([2, 3]), x.amin([2, 3])], 1)
def logits(self, x):
    return x.mean([2, 3])
)");
}

}  // namespace tessera::test
