#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>

#include "tessera/base/error.h"

namespace tessera {

// Makes this process the only one of its kind that works in a folder, as long as the object lives;
// a process that dies releases its lock. The lock is a file in the folder, which stays.
class FolderLock {
 public:
  // Thrown if another process holds the lock.
  class Held : public Error {
   public:
    Held(const std::string& message, const std::string& hint, pid_t process)
        : Error(message, hint), process_(process) {}

    pid_t process() const noexcept { return process_; }  // that holds it; 0: unknown

   private:
    pid_t process_;
  };

  // Whether others of the same kind may work in the folder at the same time.
  enum class Sharing { none, with_its_like };

  //   worker  what works in the folder: "training"
  //   hint    what to do if another one does
  // Throws Held, or Error if the file cannot be written or is a link. Warns about a file system
  // without locks.
  FolderLock(const std::filesystem::path& file, const std::string& worker, const std::string& hint,
             Sharing sharing = Sharing::none);
  ~FolderLock();
  FolderLock(FolderLock&& other) noexcept;
  FolderLock& operator=(FolderLock&& other) noexcept;

  // Of the open file. A child process that keeps it open holds the lock too.
  int descriptor() const { return descriptor_; }

 private:
  int descriptor_ = -1;
};

}  // namespace tessera
