#pragma once

#include "support/log_listener.h"

#include <tessera/base/error.h>

#include <gtest/gtest.h>

#include <functional>
#include <string>

namespace tessera::test {

// The message and hint of the error that `act` must throw.
inline std::string complaint(const std::function<void()>& act) {
  try {
    act();
  } catch (const Error& error) {
    return error.what() + (error.hint().empty() ? "" : " | " + error.hint());
  }
  ADD_FAILURE() << "nothing was thrown";
  return "";
}

}  // namespace tessera::test
