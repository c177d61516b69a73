#include "base/files.h"

#include "base/regular_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <ftw.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <system_error>
#include <utility>
#include <vector>

namespace tessera {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view kTemporaryPrefix = ".tessera-tmp-";

// Unique in this process by the counter, among processes by the id, and a leftover of an earlier
// process with the same id is stepped over by whoever creates the file (O_EXCL and its like).
fs::path temporary_sibling(const fs::path& folder) {
  static std::atomic<uint64_t> counter{0};
  return folder / fmt::format("{}{}-{}", kTemporaryPrefix, ::getpid(), counter++);
}

fs::path folder_of(const fs::path& path) {
  return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

class Descriptor {
 public:
  Descriptor(const fs::path& path, int flags, std::string_view action)
      : value_(::open(path.c_str(), flags | O_CLOEXEC)) {
    if (value_ < 0) throw file_error(action, path, errno);
  }
  explicit Descriptor(int opened) : value_(opened) {}
  ~Descriptor() { ::close(value_); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int get() const { return value_; }

 private:
  const int value_;
};

void sync(int descriptor, const fs::path& path) {
  // EINVAL: a file system that cannot sync this kind of file; there is nothing to wait for.
  if (::fsync(descriptor) != 0 && errno != EINVAL) throw file_error("write", path, errno);
}

void sync_path(const fs::path& path, int flags = 0) {
  const Descriptor opened(path, O_RDONLY | flags, "open");
  sync(opened.get(), path);
}

// Files before the folders that list them.
void sync_tree(const fs::path& folder) {
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    if (entry.is_symlink()) continue;
    if (entry.is_directory())
      sync_tree(entry.path());
    else if (entry.is_regular_file())
      sync_path(entry.path());
  }
  sync_path(folder, O_DIRECTORY);
}

void rename_path(const fs::path& from, const fs::path& to) {
  if (::rename(from.c_str(), to.c_str()) != 0) throw file_error("write", to, errno);
}

}  // namespace

Error file_error(std::string_view action, const fs::path& path, int code) {
  std::string hint;
  if (code == ENOSPC) hint = "the disk is full: free some space or choose another folder";
  if (code == EDQUOT) hint = "your disk quota is used up: free some space or choose another folder";
  if (code == EFBIG) hint = "the file is larger than the limit of this process (ulimit -f) allows";
  return Error(fmt::format("cannot {} '{}': {}", action, path.string(),
                           std::generic_category().message(code)),
               std::move(hint));
}

std::string read_file(const fs::path& path) {
  return read_file(path, kMostTextBytes);
}

AtomicFile::AtomicFile(const fs::path& path) : final_(path) {
  std::error_code ignored;
  if (fs::is_symlink(final_, ignored)) {
    const fs::path target = fs::weakly_canonical(final_, ignored);
    if (!ignored) final_ = target;
  }
  // Renaming onto a device or a pipe (/dev/null) would replace it.
  const fs::file_status status = fs::status(final_, ignored);
  if (fs::is_directory(status)) throw file_error("write", path, EISDIR);
  if (fs::exists(status) && !fs::is_regular_file(status))
    throw Error(fmt::format("cannot write '{}': not a regular file", path.string()));

  do {
    temporary_ = temporary_sibling(folder_of(final_));
    descriptor_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  } while (descriptor_ < 0 && errno == EEXIST);
  if (descriptor_ < 0) throw file_error("write", path, errno);
  ::flock(descriptor_, LOCK_EX | LOCK_NB);  // tells remove_leftovers() that someone is at work
}

AtomicFile::~AtomicFile() {
  if (descriptor_ < 0) return;
  ::unlink(temporary_.c_str());
  ::close(descriptor_);
}

void AtomicFile::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) throw file_error("write", final_, errno);
    bytes.remove_prefix(static_cast<size_t>(written));
  }
}

void AtomicFile::commit() {
  sync(descriptor_, final_);
  rename_path(temporary_, final_);
  // Some network file systems report a failed write only here.
  if (::close(std::exchange(descriptor_, -1)) != 0) throw file_error("write", final_, errno);
  sync_path(folder_of(final_), O_DIRECTORY);
}

void write_file_atomically(const fs::path& path, std::string_view bytes) {
  AtomicFile file(path);
  file.write(bytes);
  file.commit();
}

AtomicFolder::AtomicFolder(const fs::path& parent) : parent_(parent) {
  std::error_code failure;
  fs::create_directories(parent_, failure);
  if (failure) throw file_error("make the folder", parent_, failure.value());
  int result = 0;
  do {
    temporary_ = temporary_sibling(parent_);
    result = ::mkdir(temporary_.c_str(), 0777);
  } while (result != 0 && errno == EEXIST);
  if (result != 0) throw file_error("make a folder in", parent_, errno);
  descriptor_ = ::open(temporary_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor_ < 0) {
    const int code = errno;
    ::rmdir(temporary_.c_str());
    throw file_error("open", temporary_, code);
  }
  ::flock(descriptor_, LOCK_EX | LOCK_NB);
}

AtomicFolder::~AtomicFolder() {
  if (descriptor_ < 0) return;
  remove_tree(temporary_);
  ::close(descriptor_);
}

fs::path AtomicFolder::commit(const std::string& name) {
  fs::path destination = parent_ / name;
  if (name.empty() || name == "." || name == ".." || fs::path(name).has_parent_path())
    throw Error(fmt::format("'{}' is not the name of a folder in '{}'", name, parent_.string()));
  if (descriptor_ < 0) throw Error("this folder was committed already: '" + name + "'");
  try {
    sync_tree(temporary_);
  } catch (const fs::filesystem_error& failure) {
    throw file_error("read", temporary_, failure.code().value());
  }
  rename_path(temporary_, destination);
  ::close(std::exchange(descriptor_, -1));
  sync_path(parent_, O_DIRECTORY);
  return destination;
}

bool remove_tree(const fs::path& path) {
  const auto remove_entry = [](const char* entry, const struct stat*, int, struct FTW*) {
    return ::remove(entry);
  };
  return ::nftw(path.c_str(), remove_entry, 16, FTW_DEPTH | FTW_PHYS) == 0;
}

size_t remove_leftovers(const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code failure;
  for (fs::directory_iterator entry(folder, failure), end; !failure && entry != end;
       entry.increment(failure))
    if (entry->path().filename().string().starts_with(kTemporaryPrefix))
      found.push_back(entry->path());
  if (failure) throw file_error("read", folder, failure.value());

  size_t removed = 0;
  for (const fs::path& path : found) {
    // Not links: they have no lock, so one that is seen here may be in the making.
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (descriptor < 0) continue;
    if (::flock(descriptor, LOCK_EX | LOCK_NB) == 0) {
      if (remove_tree(path)) ++removed;
    }
    ::close(descriptor);
  }
  return removed;
}

void replace_symlink(const fs::path& link, const fs::path& target) {
  std::error_code ignored;
  const fs::file_status status = fs::symlink_status(link, ignored);
  if (fs::exists(status) && !fs::is_symlink(status))
    throw Error(fmt::format("cannot replace '{}': not a symbolic link", link.string()));

  fs::path temporary;
  int result = 0;
  do {
    temporary = temporary_sibling(folder_of(link));
    result = ::symlink(target.c_str(), temporary.c_str());
  } while (result != 0 && errno == EEXIST);
  if (result != 0) throw file_error("make the link", link, errno);
  if (::rename(temporary.c_str(), link.c_str()) != 0) {
    const int code = errno;
    ::unlink(temporary.c_str());
    throw file_error("make the link", link, code);
  }
  sync_path(folder_of(link), O_DIRECTORY);
}

MappedFile::MappedFile(const fs::path& path, Pages pages) : pages_(pages) {
  const Descriptor opened(open_regular_file(path));
  struct stat status {};
  if (::fstat(opened.get(), &status) != 0) throw file_error("read", path, errno);
  size_ = static_cast<size_t>(status.st_size);
  if (size_ == 0) return;  // mmap refuses a length of zero
  const int access = pages == Pages::copy_on_write ? PROT_READ | PROT_WRITE : PROT_READ;
  // MAP_NORESERVE: a large file is mapped even where its size in memory would be refused; only the
  // pages that are written to need any.
  void* const mapped = ::mmap(nullptr, size_, access, MAP_PRIVATE | MAP_NORESERVE, opened.get(), 0);
  if (mapped == MAP_FAILED) throw file_error("map", path, errno);
  data_ = static_cast<char*>(mapped);
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) ::munmap(data_, size_);
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)),
      pages_(other.pages_) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  std::swap(pages_, other.pages_);
  return *this;
}

char* MappedFile::writable_data() const {
  if (pages_ != Pages::copy_on_write) throw Error("this file was mapped for reading only");
  return data_;
}

}  // namespace tessera
