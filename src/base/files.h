#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

#include "tessera/base/error.h"

namespace tessera {

// The error of a failed system call: "cannot {action} '{path}': {text of errno}", with a hint where
// the cause is a full disk.
Error file_error(std::string_view action, const std::filesystem::path& path, int code);

std::string read_file(const std::filesystem::path& path);

// A file that appears under its name only when it is complete. It is written under a temporary name
// in the same folder (which must exist); commit() makes it durable and renames it, replacing what
// was there. Without commit() the destructor removes it. A symbolic link to a file stays
// one: the file it points to is replaced.
class AtomicFile {
 public:
  explicit AtomicFile(const std::filesystem::path& path);
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

void write_file_atomically(const std::filesystem::path& path, std::string_view bytes);

// A folder that appears under its name only when it is complete: fill path(), then commit(name).
// Without commit() the destructor removes it with all it holds.
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

 private:
  std::filesystem::path parent_;
  std::filesystem::path temporary_;
  int descriptor_ = -1;  // of the folder, locked while it is being filled; -1 once committed
};

// Removes a file, or a folder with all it holds; links are not followed. False where something
// could not be removed. (Not std::filesystem::remove_all: LibTorch 2.11 exports a broken one.)
bool remove_tree(const std::filesystem::path& path);

// Removes what killed processes left behind in `folder`: the temporary files and folders that no
// living process is writing. Returns how many there were.
size_t remove_leftovers(const std::filesystem::path& folder);

// Makes the symbolic link `link` point to `target` (as written, so usually a name in the same
// folder), whether or not it existed: readers see the old target or the new one, never neither.
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
