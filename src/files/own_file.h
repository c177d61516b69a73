#pragma once

#include <filesystem>

// Files in folders that the program fills itself: runs, experiments, corpora. A symbolic link in
// the place of one leads to a file that is not ours, which must not be written to.
namespace tessera {

// Throws Error if there is a symbolic link with that name.
void refuse_link(const std::filesystem::path& path);

// Opens such a file, creates it if it is missing, and returns its descriptor, which is not passed
// on to other programs.
//   access  O_RDWR, or O_WRONLY | O_APPEND
// Throws Error for a link and for anything else that is not a regular file.
int open_own_file(const std::filesystem::path& path, int access);

}  // namespace tessera
