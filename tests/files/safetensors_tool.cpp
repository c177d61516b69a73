// Writes or checks the sample file, for safetensors_python_test.py.
//   safetensors_tool write FILE
//   safetensors_tool check FILE
#include <cstdio>
#include <exception>
#include <string_view>

#include "safetensors_sample.h"
#include "tessera/files/safetensors.h"

namespace {

using namespace tessera;

bool check(const char* path) {
  const safetensors::File file(path);
  const safetensors::Tensors expected = test::sample_tensors(), found = file.tensors();
  bool same = file.metadata() == test::sample_metadata() && expected.size() == found.size();
  for (const auto& [name, tensor] : expected) {
    if (found.contains(name) && test::same_bits(found.at(name), tensor)) continue;
    std::fprintf(stderr, "tensor '%s' differs\n", name.c_str());
    same = false;
  }
  return same;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view command = argc == 3 ? argv[1] : "";
  try {
    if (command == "write") {
      safetensors::save(argv[2], test::sample_tensors(), test::sample_metadata());
      return 0;
    }
    if (command == "check") return check(argv[2]) ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return 1;
  }
  std::fprintf(stderr, "usage: safetensors_tool write|check FILE\n");
  return 2;
}
