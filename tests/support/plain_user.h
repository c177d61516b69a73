#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

namespace tessera::test {

// While this object exists, file permissions apply to the tests, even if root started them.
class PlainUser {
 public:
  PlainUser() {
    if (geteuid() == 0 && seteuid(65534) != 0) ADD_FAILURE() << "cannot change the user";
  }
  ~PlainUser() {
    if (getuid() == 0 && seteuid(0) != 0) ADD_FAILURE() << "cannot change the user back";
  }
  PlainUser(const PlainUser&) = delete;
  PlainUser& operator=(const PlainUser&) = delete;
};

}  // namespace tessera::test
