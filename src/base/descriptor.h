#pragma once

#include <unistd.h>

namespace tessera {

// An open file of the system, closed in the end.
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
