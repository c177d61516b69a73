#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace tessera::fuzz {

// Watches a reader. If an input kills the process (a signal, a sanitizer's report, a reader that
// does not end), the input is written to a file first.
class Watch {
 public:
  //   target    the name of the reader
  //   failures  folder for inputs that make it fail, made with the first of them
  Watch(std::string target, std::filesystem::path failures);

  // To be called before a reader begins and after it has ended. The input must live until then.
  void begin(std::string_view input);
  void end();

  // Whether reading took more memory than any input is worth.
  bool too_much_memory() const;

  // Writes the current input to the folder; returns the file.
  std::filesystem::path save() const;

 private:
  uint64_t memory_at_start_;
};

}  // namespace tessera::fuzz
