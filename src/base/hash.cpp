#include "base/hash.h"

#include "base/files.h"

#include <fmt/format.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

namespace tessera {

std::string content_hash(std::string_view bytes) {
  const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

std::string file_hash(const std::filesystem::path& path) {
  return content_hash(MappedFile(path).view());
}

}  // namespace tessera
