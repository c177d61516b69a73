#pragma once

#include <unistd.h>

namespace tessera {

// Owns a file descriptor of the system and closes it.
class Descriptor {
 public:
  explicit Descriptor(int opened) : value_(opened) {}
  ~Descriptor() { ::close(value_); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int get() const { return value_; }

 private:
  const int value_;
};

}  // namespace tessera
