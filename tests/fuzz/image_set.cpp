#include "fuzz/made_manifest.h"
#include "fuzz/reading.h"
#include "fuzz/targets.h"
#include "image/dataset.h"

namespace tessera::fuzz {

void fuzz_image_set(std::string_view input) {
  const Parts parts = parts_of(input);
  put_parts(parts, {"train.safetensors", "test.safetensors"});
  put_manifest<image::Manifest>(part(parts, "manifest.json"), [](const Json& json, auto& made) {
    made.channels = number_in(json, "channels");
    made.height = number_in(json, "height");
    made.width = number_in(json, "width");
    if (json.contains("classes") && json["classes"].is_array())
      for (const Json& name : json["classes"])
        if (name.is_string()) made.classes.push_back(name.template get<std::string>());
    for (const auto& [name, counts] : members_of(json, "splits"))
      made.splits[name] = number_in(counts, "images");
  });
  attempt([&] {
    const image::Dataset set(work_folder());
    for (const auto& [name, count] : set.manifest().splits) {
      touch(set.split(name).images());
      if (!set.classes().empty()) touch(set.split(name).labels());
    }
  });
}

}  // namespace tessera::fuzz
