#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>

#include "tessera/base/error.h"

namespace tessera {

// Makes this process the only one of its kind at work in a folder, until the object's end; a
// process that dies gives its lock back. The lock is a file in the folder, which stays.
class FolderLock {
 public:
  // What is said where another process holds the lock.
  class Held : public Error {
   public:
    Held(const std::string& message, const std::string& hint, pid_t process)
        : Error(message, hint), process_(process) {}

    pid_t process() const noexcept { return process_; }  // that took it; 0: unknown

   private:
    pid_t process_;
  };

  //   worker  what is at work: "training"
  //   hint    what to do where another one is
  // Throws Held, or Error where the file cannot be written or is a link. A file system without
  // locks is warned about.
  FolderLock(const std::filesystem::path& file, const std::string& worker, const std::string& hint);
  ~FolderLock();
  FolderLock(FolderLock&& other) noexcept;
  FolderLock& operator=(FolderLock&& other) noexcept;

  // Of the open file. A child process that keeps it open holds the lock too.
  int descriptor() const { return descriptor_; }

 private:
  int descriptor_ = -1;
};

}  // namespace tessera
