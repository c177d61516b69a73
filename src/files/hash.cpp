#include "files/hash.h"

#include "files/files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <span>
#include <vector>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace tessera {

namespace {

constexpr size_t kPiece = 1 << 20;  // bytes that are read at once

std::string text_of(const XXH128_hash_t& hash) {
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

// Read, not mapped: a failing disk then causes an error, not a signal that ends the process.
class RegularFile {
 public:
  explicit RegularFile(const std::filesystem::path& path)
      : path_(path), descriptor_(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC)) {
    if (descriptor_ < 0) throw file_error("read", path, errno);
    struct stat status {};
    if (::fstat(descriptor_, &status) == 0 && S_ISREG(status.st_mode)) return;
    ::close(descriptor_);
    throw Error(fmt::format("cannot read '{}': not a regular file", path.string()));
  }
  ~RegularFile() { ::close(descriptor_); }
  RegularFile(const RegularFile&) = delete;
  RegularFile& operator=(const RegularFile&) = delete;

  // How many bytes; 0 at the end.
  size_t read(std::span<char> bytes) const {
    while (true) {
      const ssize_t got = ::read(descriptor_, bytes.data(), bytes.size());
      if (got >= 0) return static_cast<size_t>(got);
      if (errno != EINTR) throw file_error("read", path_, errno);
    }
  }

 private:
  std::filesystem::path path_;
  int descriptor_;
};

}  // namespace

std::string content_hash(std::string_view bytes) {
  return text_of(XXH3_128bits(bytes.data(), bytes.size()));
}

std::string file_hash(const std::filesystem::path& path) {
  const RegularFile file(path);
  std::vector<char> piece(kPiece);
  XXH3_state_t state;
  XXH3_128bits_reset(&state);
  while (const size_t got = file.read(piece)) XXH3_128bits_update(&state, piece.data(), got);
  return text_of(XXH3_128bits_digest(&state));
}

}  // namespace tessera
