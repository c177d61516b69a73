#include <tessera/base/error.h>
#include <tessera/engine/image_sampler.h>

#include <fstream>
#include <iostream>

int main(int argc, char** argv) try {
  const tessera::ImageSampler sampler(argc > 1 ? argv[1] : "runs/bits", {.steps = 50});
  const tessera::Images images = sampler.sample(16);
  for (int64_t i = 0; i < images.count; ++i)  // one file per image
    std::ofstream(std::to_string(i) + ".pnm") << (images.channels == 1 ? "P5 " : "P6 ")
                                              << images.width << ' ' << images.height << " 255\n"
                                              << std::string(images.image(i), images.image(i + 1));
} catch (const tessera::Error& error) {
  std::cerr << "error: " << error.what() << '\n';
  if (!error.hint().empty()) std::cerr << "hint: " << error.hint() << '\n';
  return 1;
}
