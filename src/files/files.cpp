#include "files/files.h"

#include "base/descriptor.h"
#include "base/regular_file.h"
#include "files/file_name.h"
#include "files/own_file.h"

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
#include <charconv>
#include <csignal>
#include <cstdio>
#include <mutex>
#include <set>
#include <system_error>
#include <utility>
#include <vector>

namespace tessera {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view kTemporaryPrefix = ".tessera-tmp-";
// A folder that is being replaced; the rest of the name is that of its successor.
constexpr std::string_view kReplacedPrefix = ".tessera-old-";

// The counter makes it unique in this process, the id among processes. Callers create it with
// O_EXCL or the like, and so skip a leftover of an earlier process with the same id.
fs::path temporary_sibling(const fs::path& folder) {
  static std::atomic<uint64_t> counter{0};
  return folder / fmt::format("{}{}-{}", kTemporaryPrefix, ::getpid(), counter++);
}

fs::path folder_of(const fs::path& path) {
  return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

//   action  for the message: "cannot ACTION 'PATH'"
Descriptor opened_path(const fs::path& path, int flags, std::string_view action) {
  const int opened = ::open(path.c_str(), flags | O_CLOEXEC);
  if (opened < 0) throw file_error(action, path, errno);
  return Descriptor(opened);
}

void sync(int descriptor, const fs::path& path) {
  // EINVAL: a file system that cannot sync this kind of file; there is nothing to wait for.
  if (::fsync(descriptor) != 0 && errno != EINVAL) throw file_error("write", path, errno);
}

void sync_path(const fs::path& path, int flags = 0) {
  const Descriptor opened = opened_path(path, O_RDONLY | flags, "open");
  sync(opened.get(), path);
}

// Syncs files before the folders that list them.
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

// Locks what was just made under a temporary name, so that remove_leftovers() of other processes
// knows that someone is at work. False if one of them was quicker and has removed it. On a file
// system without locks, leftovers are not removed.
bool lock_temporary(int descriptor) {
  if (::flock(descriptor, LOCK_EX | LOCK_NB) != 0) return errno != EWOULDBLOCK;
  struct stat status {};
  return ::fstat(descriptor, &status) != 0 || status.st_nlink > 0;
}

// Whether a path lies in a folder that is being made, which holds nothing of other processes.
bool is_in_the_making(const fs::path& folder) {
  return std::any_of(folder.begin(), folder.end(), [](const fs::path& part) {
    return part.string().starts_with(kTemporaryPrefix);
  });
}

// Does so once per folder.
void remove_leftovers_of_others(const fs::path& folder) {
  static std::mutex mutex;
  static std::set<fs::path> seen;
  std::error_code failure;
  const fs::path place = fs::canonical(folder, failure);
  if (failure || is_in_the_making(place)) return;
  {
    const std::lock_guard guard(mutex);
    if (!seen.insert(place).second) return;
  }
  try {
    remove_leftovers(place);
  } catch (const Error&) {
    // A folder may be writable but not readable.
  }
}

// The process that made a temporary name; 0 if the name does not say.
pid_t maker_of(const std::string& name) {
  pid_t process = 0;
  const char* const digits = name.data() + kTemporaryPrefix.size();
  const auto [end, failure] = std::from_chars(digits, name.data() + name.size(), process);
  return failure == std::errc() && end != name.data() + name.size() && *end == '-' ? process : 0;
}

// In a shared folder (/tmp), leftovers of other users are theirs to remove.
bool is_ours(const fs::path& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0 && status.st_uid == ::geteuid();
}

// A link has no lock. It is made and renamed at once, so it is a leftover if its maker is dead.
bool remove_dead_link(const fs::path& path) {
  const pid_t maker = maker_of(path.filename().string());
  return maker > 0 && ::kill(maker, 0) != 0 && errno == ESRCH && ::unlink(path.c_str()) == 0;
}

// A folder that was being replaced: it is put back if its successor never appeared.
bool end_replacement(const fs::path& old) {
  const fs::path successor =
      old.parent_path() / old.filename().string().substr(kReplacedPrefix.size());
  std::error_code ignored;
  const bool there =
      fs::exists(fs::symlink_status(successor, ignored)) && !fs::is_empty(successor, ignored);
  return there ? remove_tree(old) : ::rename(old.c_str(), successor.c_str()) == 0;
}

// In one step. False if the file system cannot do that.
bool exchange(const fs::path& one, const fs::path& other) {
  if (::renameat2(AT_FDCWD, one.c_str(), AT_FDCWD, other.c_str(), RENAME_EXCHANGE) == 0)
    return true;
  if (errno == EINVAL || errno == ENOSYS || errno == ENOTSUP) return false;
  throw file_error("replace", other, errno);
}

}  // namespace

bool is_there(const fs::path& path) {
  std::error_code failure;
  const bool found = fs::exists(path, failure);
  if (failure) throw file_error("look at", path, failure.value());
  return found;
}

std::string read_file(const fs::path& path) {
  return read_file(path, kMostTextBytes);
}

AtomicFile::AtomicFile(const fs::path& path, Links links) : final_(path) {
  std::error_code ignored;
  if (links == Links::refuse) refuse_link(final_);
  if (fs::is_symlink(final_, ignored)) {
    const fs::path target = fs::weakly_canonical(final_, ignored);
    if (!ignored) final_ = target;
  }
  // Renaming onto a device or a pipe (/dev/null) would replace it.
  const fs::file_status status = fs::status(final_, ignored);
  if (fs::is_directory(status)) throw file_error("write", path, EISDIR);
  if (fs::exists(status) && !fs::is_regular_file(status))
    throw Error(fmt::format("cannot write '{}': not a regular file", path.string()));

  remove_leftovers_of_others(folder_of(final_));
  while (true) {
    temporary_ = temporary_sibling(folder_of(final_));
    descriptor_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor_ < 0 && errno == EEXIST) continue;
    if (descriptor_ < 0) throw file_error("write", path, errno);
    if (lock_temporary(descriptor_)) return;
    ::close(descriptor_);
  }
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

void write_file_atomically(const fs::path& path, std::string_view bytes, Links links) {
  AtomicFile file(path, links);
  file.write(bytes);
  file.commit();
}

AtomicFolder::AtomicFolder(const fs::path& parent) : parent_(parent) {
  std::error_code failure;
  fs::create_directories(parent_, failure);
  if (failure) throw file_error("make the folder", parent_, failure.value());
  remove_leftovers_of_others(parent_);
  while (true) {
    temporary_ = temporary_sibling(parent_);
    if (::mkdir(temporary_.c_str(), 0777) != 0) {
      if (errno == EEXIST) continue;
      throw file_error("make a folder in", parent_, errno);
    }
    descriptor_ = ::open(temporary_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor_ < 0 && errno == ENOENT) continue;  // another process took it for a leftover
    if (descriptor_ < 0) {
      const int code = errno;
      ::rmdir(temporary_.c_str());
      throw file_error("open", temporary_, code);
    }
    if (lock_temporary(descriptor_)) return;
    ::close(descriptor_);
  }
}

AtomicFolder::~AtomicFolder() {
  if (descriptor_ < 0) return;
  remove_tree(temporary_);
  ::close(descriptor_);
}

fs::path AtomicFolder::destination(const std::string& name) const {
  if (!is_plain_file_name(name))
    throw Error(fmt::format("'{}' is not the name of a folder in '{}'", name, parent_.string()));
  if (descriptor_ < 0) throw Error("this folder was committed already: '" + name + "'");
  try {
    sync_tree(temporary_);
  } catch (const fs::filesystem_error& failure) {
    throw file_error("read", temporary_, failure.code().value());
  }
  return parent_ / name;
}

fs::path AtomicFolder::commit(const std::string& name) {
  fs::path made = destination(name);
  rename_path(temporary_, made);
  ::close(std::exchange(descriptor_, -1));
  sync_path(parent_, O_DIRECTORY);
  return made;
}

fs::path AtomicFolder::replace(const std::string& name) {
  fs::path made = destination(name);
  fs::path old = temporary_;
  if (!exchange(temporary_, made)) {
    old = parent_ / (std::string(kReplacedPrefix) + name);
    // Locked until its end: another process must not take it for a leftover and put it back.
    const Descriptor opened = opened_path(made, O_RDONLY | O_DIRECTORY, "replace");
    ::flock(opened.get(), LOCK_EX | LOCK_NB);
    rename_path(made, old);
    if (::rename(temporary_.c_str(), made.c_str()) != 0) {
      const int code = errno;
      ::rename(old.c_str(), made.c_str());
      throw file_error("replace", made, code);
    }
  }
  ::close(std::exchange(descriptor_, -1));
  sync_path(parent_, O_DIRECTORY);
  remove_tree(old);  // if that fails, it is a leftover
  return made;
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
       entry.increment(failure)) {
    const std::string name = entry->path().filename().string();
    if (name.starts_with(kTemporaryPrefix) || name.starts_with(kReplacedPrefix))
      found.push_back(entry->path());
  }
  if (failure) throw file_error("read", folder, failure.value());

  size_t mended = 0;
  for (const fs::path& path : found) {
    if (!is_ours(path)) continue;
    const bool temporary = path.filename().string().starts_with(kTemporaryPrefix);
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (descriptor < 0) {
      if (errno == ELOOP && temporary) mended += remove_dead_link(path);
      continue;
    }
    if (::flock(descriptor, LOCK_EX | LOCK_NB) == 0)
      mended += temporary ? remove_tree(path) : end_replacement(path);
    ::close(descriptor);
  }
  return mended;
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
  // MAP_NORESERVE: maps a large file even if as much memory would be refused; only pages that are
  // written to need memory.
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
