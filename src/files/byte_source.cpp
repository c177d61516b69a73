#include "files/byte_source.h"

#include "base/require.h"
#include "files/files.h"

#include <fcntl.h>
#include <unistd.h>

#include <zlib.h>
#ifdef TESSERA_HAS_LZMA
#include <lzma.h>
#endif

#include <algorithm>
#include <array>
#include <cerrno>

namespace tessera {
namespace {

class File : public ByteSource {
 public:
  explicit File(const std::filesystem::path& path) : path_(path) {
    descriptor_ = path == "-" ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor_ < 0) throw file_error("open", path, errno);
#ifdef POSIX_FADV_SEQUENTIAL
    posix_fadvise(descriptor_, 0, 0, POSIX_FADV_SEQUENTIAL);
#endif
  }
  ~File() override {
    if (descriptor_ != STDIN_FILENO) ::close(descriptor_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  size_t read(char* bytes, size_t size) override {
    while (true) {
      const ssize_t got = ::read(descriptor_, bytes, size);
      if (got >= 0) return static_cast<size_t>(got);
      if (errno != EINTR) throw file_error("read", path_ == "-" ? "standard input" : path_, errno);
    }
  }

 private:
  std::filesystem::path path_;
  int descriptor_;
};

constexpr size_t kCompressedBytes = size_t{1} << 17;

Error damaged(const std::filesystem::path& path, std::string_view what) {
  return Error(fmt::format("'{}' is damaged or not what its name says: {}", path.string(), what));
}

// Watches how much comes out of a compressed file: text becomes ten times as large, not two hundred
// times.
class Unpacked {
 public:
  explicit Unpacked(const std::filesystem::path& path) : path_(path) {}

  void add(size_t packed, size_t unpacked) {
    packed_ += packed;
    unpacked_ += unpacked;
    if (unpacked_ > kWatchedFrom && unpacked_ / kMostTimes > packed_)
      throw Error(
          fmt::format("'{}' unpacks to more than {} times its size", path_.string(), kMostTimes),
          "ordinary data does not shrink so much: the file is damaged, or made to fill the memory; "
          "unpack it yourself if you trust it");
  }

 private:
  static constexpr uint64_t kWatchedFrom = uint64_t{1} << 24, kMostTimes = 200;

  std::filesystem::path path_;
  uint64_t packed_ = 0, unpacked_ = 0;  // bytes so far
};

// Uses zlib's stream functions because gzread() passes uncompressed files through.
class GzipFile : public ByteSource {
 public:
  explicit GzipFile(const std::filesystem::path& path) : file_(path), path_(path), unpacked_(path) {
    constexpr int kGzipOnly = 16;
    require(inflateInit2(&stream_, MAX_WBITS + kGzipOnly) == Z_OK, "cannot start zlib");
  }
  ~GzipFile() override { inflateEnd(&stream_); }
  GzipFile(const GzipFile&) = delete;
  GzipFile& operator=(const GzipFile&) = delete;

  size_t read(char* bytes, size_t size) override {
    size = std::min<size_t>(size, 1U << 30);  // zlib counts in 32 bits
    stream_.next_out = reinterpret_cast<Bytef*>(bytes);
    stream_.avail_out = static_cast<uInt>(size);
    while (stream_.avail_out == size) {
      if (stream_.avail_in == 0 && !fill()) {
        if (!inside_ && members_ > 0) return 0;
        throw damaged(path_, members_ == 0 && !inside_ ? "the file is empty" : "it ends too early");
      }
      if (!inside_ && members_ > 0 && *stream_.next_in == 0) {  // a file may be padded with zeros
        ++stream_.next_in;
        --stream_.avail_in;
        continue;
      }
      if (!inside_) {  // a gzip file may have several members, one after the other
        inflateReset(&stream_);
        inside_ = true;
      }
      const int status = inflate(&stream_, Z_NO_FLUSH);
      if (status == Z_STREAM_END) {
        inside_ = false;
        ++members_;
      } else if (status != Z_OK && status != Z_BUF_ERROR) {
        throw damaged(path_, stream_.msg != nullptr ? stream_.msg : "not gzip");
      }
    }
    unpacked_.add(0, size - stream_.avail_out);
    return size - stream_.avail_out;
  }

 private:
  bool fill() {
    stream_.next_in = reinterpret_cast<Bytef*>(compressed_.data());
    stream_.avail_in = static_cast<uInt>(file_.read(compressed_.data(), compressed_.size()));
    unpacked_.add(stream_.avail_in, 0);
    return stream_.avail_in > 0;
  }

  File file_;
  std::filesystem::path path_;
  Unpacked unpacked_;
  z_stream stream_{};
  bool inside_ = false;  // within a member
  int64_t members_ = 0;  // finished so far
  std::array<char, kCompressedBytes> compressed_;
};

#ifdef TESSERA_HAS_LZMA
class XzFile : public ByteSource {
 public:
  explicit XzFile(const std::filesystem::path& path) : file_(path), path_(path), unpacked_(path) {
    require(lzma_stream_decoder(&stream_, kMostMemory, LZMA_CONCATENATED) == LZMA_OK,
            "cannot start liblzma");
  }
  ~XzFile() override { lzma_end(&stream_); }
  XzFile(const XzFile&) = delete;
  XzFile& operator=(const XzFile&) = delete;

  size_t read(char* bytes, size_t size) override {
    stream_.next_out = reinterpret_cast<uint8_t*>(bytes);
    stream_.avail_out = size;
    while (stream_.avail_out == size && !ended_) {
      if (stream_.avail_in == 0 && !file_ended_) fill();
      switch (lzma_code(&stream_, file_ended_ ? LZMA_FINISH : LZMA_RUN)) {
        case LZMA_OK:
          break;
        case LZMA_STREAM_END:
          ended_ = true;
          break;
        case LZMA_BUF_ERROR:
          throw damaged(path_, "it ends too early");
        case LZMA_FORMAT_ERROR:
          throw damaged(path_, "not xz");
        case LZMA_MEMLIMIT_ERROR:
        case LZMA_MEM_ERROR:
          throw Error(fmt::format("no memory to read '{}'", path_.string()));
        default:
          throw damaged(path_, "its contents do not fit its check sums");
      }
    }
    unpacked_.add(0, size - stream_.avail_out);
    return size - stream_.avail_out;
  }

 private:
  static constexpr uint64_t kMostMemory = uint64_t{1} << 30;  // `xz -9` asks for 65 MiB

  void fill() {
    stream_.next_in = reinterpret_cast<uint8_t*>(compressed_.data());
    stream_.avail_in = file_.read(compressed_.data(), compressed_.size());
    unpacked_.add(stream_.avail_in, 0);
    file_ended_ = stream_.avail_in == 0;
  }

  File file_;
  std::filesystem::path path_;
  Unpacked unpacked_;
  lzma_stream stream_ = LZMA_STREAM_INIT;
  bool file_ended_ = false, ended_ = false;
  std::array<char, kCompressedBytes> compressed_;
};
#endif

[[maybe_unused]] Error no_library(const std::filesystem::path& path, std::string_view library) {
  return Error(fmt::format("cannot read '{}': this build has no {}", path.string(), library),
               "decompress the file, or build Tessera with that library");
}

}  // namespace

std::unique_ptr<ByteSource> ByteSource::open(const std::filesystem::path& path) {
  if (path.extension() == ".gz") return std::make_unique<GzipFile>(path);
  if (path.extension() == ".xz") {
#ifdef TESSERA_HAS_LZMA
    return std::make_unique<XzFile>(path);
#else
    throw no_library(path, "liblzma");
#endif
  }
  return std::make_unique<File>(path);
}

}  // namespace tessera
