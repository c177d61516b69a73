#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

#include "base/file_error.h"

namespace tessera {

// Whether there is something with that name; links are followed. Throws FileError if that cannot be
// determined now: a file that cannot be examined need not be missing.
bool is_there(const std::filesystem::path& path);

std::string read_file(const std::filesystem::path& path);

// What happens if a symbolic link is in the place of a file to be written.
enum class Links {
  refuse,  // Error: in folders the program fills itself, a link leads to a file that is not ours
  follow,  // it stays a link, and the file it points to is replaced: for files the user named
};

// A file that appears under its name only when it is complete. It is written under a temporary name
// in the same folder (which must exist); commit() makes it durable and renames it, replacing what
// was there. Without commit() the destructor removes it. The first AtomicFile of a process in a
// folder removes what killed processes left there.
class AtomicFile {
 public:
  explicit AtomicFile(const std::filesystem::path& path, Links links = Links::refuse);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(std::string_view bytes);
  void commit();

 private:
  std::filesystem::path final_;
  std::filesystem::path temporary_;
  int descriptor_ = -1;  // -1 once committed
};

void write_file_atomically(const std::filesystem::path& path, std::string_view bytes,
                           Links links = Links::refuse);

// A folder that appears under its name only when it is complete: fill path(), then commit(name).
// Without commit() the destructor removes it with all it holds. The first AtomicFolder of a process
// in a parent removes what killed processes left there.
class AtomicFolder {
 public:
  explicit AtomicFolder(const std::filesystem::path& parent);  // makes the parent if need be
  ~AtomicFolder();
  AtomicFolder(const AtomicFolder&) = delete;
  AtomicFolder& operator=(const AtomicFolder&) = delete;

  const std::filesystem::path& path() const { return temporary_; }

  // Makes every file and folder within durable and renames the folder to parent/name, which must
  // not exist (an empty folder may). Returns that path. If it throws, nothing of that name appears
  // and the folder may be committed again.
  std::filesystem::path commit(const std::string& name);

  // The same if parent/name is a folder: takes its place and removes it. At every moment one of the
  // two is there, complete. On file systems that cannot exchange two folders in one step, a process
  // killed in the middle leaves the old one under another name; remove_leftovers() puts it back.
  std::filesystem::path replace(const std::string& name);

 private:
  std::filesystem::path destination(const std::string& name) const;  // once all within is durable

  std::filesystem::path parent_;
  std::filesystem::path temporary_;
  int descriptor_ = -1;  // of the folder, locked while it is being filled; -1 once committed
};

// Removes a file, or a folder with all it holds; links are not followed. False if something could
// not be removed. (Not std::filesystem::remove_all: LibTorch 2.11 exports a broken one.)
bool remove_tree(const std::filesystem::path& path);

// Mends what killed processes left behind in `folder`: removes the temporary files and folders that
// no living process is writing, and completes or undoes an AtomicFolder::replace(). Returns how
// many leftovers there were.
size_t remove_leftovers(const std::filesystem::path& folder);

// Makes the symbolic link `link` point to `target` (as written, so usually a name in the same
// folder), whether or not it existed: at any time readers see the old target or the new one.
void replace_symlink(const std::filesystem::path& link, const std::filesystem::path& target);

// The bytes of a file, mapped into memory. The file must not shrink meanwhile.
class MappedFile {
 public:
  enum class Pages {
    read_only,
    copy_on_write,  // may be written to; what is written stays in this mapping
  };

  explicit MappedFile(const std::filesystem::path& path, Pages pages = Pages::read_only);
  ~MappedFile();
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;

  size_t size() const { return size_; }
  const char* data() const { return data_; }  // nullptr for an empty file
  char* writable_data() const;                // throws Error if the pages are read_only
  std::string_view view() const { return {data_, size_}; }

 private:
  char* data_ = nullptr;
  size_t size_ = 0;
  Pages pages_ = Pages::read_only;
};

}  // namespace tessera
