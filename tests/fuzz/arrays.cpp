#include "fuzz/reading.h"
#include "fuzz/targets.h"
#include "image/image_array.h"
#include "image/image_source.h"
#include "image/npy.h"
#include "image/zip.h"

namespace tessera::fuzz {

void fuzz_arrays(std::string_view input) {
  attempt([&] { image::parse_npy(input); });
  attempt([&] {
    for (const image::ZipEntry& entry : image::zip_entries(input))
      if (entry.stored) image::stored_bytes(input, entry);
  });
  for (const char* name : {"images.npy", "images.npz"}) {
    const auto path = put(name, input);
    attempt([&] {
      const auto images = image::ImageSource::open(path);
      touch(images->read(0, images->size()));
    });
  }
}

}  // namespace tessera::fuzz
