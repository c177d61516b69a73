#include "image/zip.h"

#include "base/require.h"

#include <zlib.h>

#include <algorithm>

namespace tessera::image {
namespace {

constexpr uint32_t kLocalHeader = 0x04034b50, kDescriptor = 0x08074b50, kDirectory = 0x02014b50,
                   kEnd64 = 0x06064b50, kLocator64 = 0x07064b50, kEnd = 0x06054b50;
constexpr uint64_t kLocalHeaderBytes = 30, kDirectoryBytes = 46, kLocatorBytes = 20, kEndBytes = 22;
constexpr uint64_t kLongestComment = 0xffff;
constexpr uint32_t kIn64 = 0xffffffff;  // the number is in the zip64 field
constexpr uint32_t kShortIn64 = 0xffff;
constexpr uint32_t kField64 = 1;     // the tag of that field
constexpr uint32_t kVersion = 45;    // of the format: the first with zip64
constexpr uint32_t kFlags = 0x0808;  // sizes follow the data; names are UTF-8
constexpr uint32_t kFirstOfJanuary1980 = 0x21;

// Numbers with the lowest byte first, one after the other.
class Record {
 public:
  Record& two(uint64_t value) { return add(value, 2); }
  Record& four(uint64_t value) { return add(value, 4); }
  Record& eight(uint64_t value) { return add(value, 8); }
  Record& text(std::string_view text) {
    bytes_ += text;
    return *this;
  }
  const std::string& bytes() const { return bytes_; }

 private:
  Record& add(uint64_t value, int size) {
    for (int k = 0; k < size; ++k) bytes_ += static_cast<char>(value >> (8 * k) & 0xff);
    return *this;
  }

  std::string bytes_;
};

// Reads such numbers; never outside of the archive.
class Cursor {
 public:
  Cursor(std::string_view archive, uint64_t place) : archive_(archive), place_(place) {}

  uint64_t two() { return number(2); }
  uint64_t four() { return number(4); }
  uint64_t eight() { return number(8); }
  std::string_view text(uint64_t size) {
    require(place_ <= archive_.size() && size <= archive_.size() - place_,
            "its directory points outside of the file");
    place_ += size;
    return archive_.substr(place_ - size, size);
  }
  Cursor& skip(uint64_t bytes) {
    text(bytes);
    return *this;
  }
  uint64_t place() const { return place_; }

 private:
  uint64_t number(uint64_t size) {
    uint64_t value = 0;
    const std::string_view bytes = text(size);
    for (size_t k = size; k-- > 0;) value = value << 8 | static_cast<uint8_t>(bytes[k]);
    return value;
  }

  std::string_view archive_;
  uint64_t place_;
};

struct Directory {
  uint64_t place = 0, count = 0;
};

Directory find_directory(std::string_view archive) {
  const std::string signature = Record().four(kEnd).bytes();
  const size_t end = archive.rfind(signature);
  require(end != std::string_view::npos && archive.size() - end >= kEndBytes &&
              archive.size() - end <= kEndBytes + kLongestComment,
          "it is not a zip archive, or is cut off");
  Cursor cursor(archive, end + 10);
  Directory found;
  found.count = cursor.two();
  cursor.skip(4);
  found.place = cursor.four();
  if (end < kLocatorBytes || Cursor(archive, end - kLocatorBytes).four() != kLocator64)
    return found;
  Cursor end64(archive, Cursor(archive, end - kLocatorBytes + 8).eight());
  require(end64.four() == kEnd64, "its directory is damaged");
  found.count = end64.skip(28).eight();
  found.place = end64.skip(8).eight();
  return found;
}

// Takes the numbers of `wide` that did not fit into four bytes from the zip64 field, in order.
void widen(std::string_view extra, std::initializer_list<uint64_t*> wide) {
  Cursor fields(extra, 0);
  while (fields.place() < extra.size()) {
    const uint64_t tag = fields.two(), size = fields.two();
    Cursor field(fields.text(size), 0);
    if (tag != kField64) continue;
    for (uint64_t* number : wide)
      if (*number == kIn64) *number = field.eight();
  }
}

}  // namespace

std::vector<ZipEntry> zip_entries(std::string_view archive) {
  const Directory directory = find_directory(archive);
  std::vector<ZipEntry> entries;
  Cursor cursor(archive, directory.place);
  for (uint64_t k = 0; k < directory.count; ++k) {
    require(cursor.four() == kDirectory, "its directory is damaged");
    ZipEntry entry;
    entry.stored = cursor.skip(6).two() == 0;
    entry.check_sum = static_cast<uint32_t>(cursor.skip(4).four());
    entry.size = cursor.four();
    uint64_t unpacked = cursor.four();
    const uint64_t name_size = cursor.two(), extra_size = cursor.two(), comment = cursor.two();
    uint64_t header = cursor.skip(8).four();
    entry.name = cursor.text(name_size);
    widen(cursor.text(extra_size), {&unpacked, &entry.size, &header});
    cursor.skip(comment);

    Cursor local(archive, header);
    require(local.four() == kLocalHeader, "its directory is damaged");
    local.skip(kLocalHeaderBytes - 8);
    const uint64_t local_name = local.two(), local_extra = local.two();
    entry.begin = local.skip(local_name + local_extra).place();
    local.skip(entry.size);
    entries.push_back(std::move(entry));
  }
  return entries;
}

std::string_view stored_bytes(std::string_view archive, const ZipEntry& entry) {
  const std::string_view bytes = archive.substr(entry.begin, entry.size);
  require(crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()) == entry.check_sum,
          "its file '{}' is damaged: the checksum does not fit", entry.name);
  return bytes;
}

ZipWriter::ZipWriter(const std::filesystem::path& path) : file_(path, Links::follow) {}

void ZipWriter::put(std::string_view bytes) {
  file_.write(bytes);
  position_ += bytes.size();
}

void ZipWriter::begin(const std::string& name) {
  end();
  require(!name.empty() && name.size() <= 0xffff &&
              std::none_of(entries_.begin(), entries_.end(),
                           [&](const Entry& entry) { return entry.name == name; }),
          "'{}' cannot be the name of another file in the archive", name);
  entries_.push_back({name, position_, 0, 0});
  open_ = true;
  put(Record()
          .four(kLocalHeader)
          .two(kVersion)
          .two(kFlags)
          .two(0)  // stored
          .two(0)
          .two(kFirstOfJanuary1980)
          .four(0)
          .four(kIn64)
          .four(kIn64)
          .two(name.size())
          .two(20)
          .text(name)
          .two(kField64)
          .two(16)
          .eight(0)
          .eight(0)
          .bytes());
}

void ZipWriter::write(std::string_view bytes) {
  require(open_, "no file of the archive was begun");
  put(bytes);
  Entry& entry = entries_.back();
  entry.size += bytes.size();
  entry.check_sum = static_cast<uint32_t>(
      crc32_z(entry.check_sum, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

void ZipWriter::end() {
  if (!open_) return;
  open_ = false;
  const Entry& entry = entries_.back();
  put(Record().four(kDescriptor).four(entry.check_sum).eight(entry.size).eight(entry.size).bytes());
}

void ZipWriter::commit() {
  end();
  const uint64_t directory = position_;
  for (const Entry& entry : entries_)
    put(Record()
            .four(kDirectory)
            .two(kVersion)
            .two(kVersion)
            .two(kFlags)
            .two(0)
            .two(0)
            .two(kFirstOfJanuary1980)
            .four(entry.check_sum)
            .four(kIn64)
            .four(kIn64)
            .two(entry.name.size())
            .two(28)
            .two(0)
            .two(0)
            .two(0)
            .four(0)
            .four(kIn64)
            .text(entry.name)
            .two(kField64)
            .two(24)
            .eight(entry.size)
            .eight(entry.size)
            .eight(entry.offset)
            .bytes());
  const uint64_t end64 = position_;
  put(Record()
          .four(kEnd64)
          .eight(44)  // bytes of this record from here
          .two(kVersion)
          .two(kVersion)
          .four(0)
          .four(0)
          .eight(entries_.size())
          .eight(entries_.size())
          .eight(end64 - directory)
          .eight(directory)
          .bytes());
  put(Record().four(kLocator64).four(0).eight(end64).four(1).bytes());
  put(Record()
          .four(kEnd)
          .two(0)
          .two(0)
          .two(kShortIn64)
          .two(kShortIn64)
          .four(kIn64)
          .four(kIn64)
          .two(0)
          .bytes());
  file_.commit();
}

}  // namespace tessera::image
