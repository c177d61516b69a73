#pragma once

#include <tessera/base/error.h>

#include <chrono>
#include <optional>
#include <string>
#include <utility>

namespace tessera::serve {

// Why a request is not served, for the metrics.
enum class RefusedBecause {
  invalid,
  token,
  size,
  full,
  loading,
  draining,
  deadline,
  memory,
  failure
};

// A request that is not served, with the status of HTTP that says so.
class Refusal : public Error {
 public:
  Refusal(int status, std::string message, std::string hint = {})
      : Error(std::move(message), std::move(hint)), status_(status) {}

  int status() const { return status_; }

  // When to try again, if that may help (429, 503).
  std::optional<std::chrono::seconds> retry_after = {};
  // Not set: what the status says.
  std::optional<RefusedBecause> reason = {};
  // Name of the field of the request that is wrong; empty: none.
  std::string field = {};

 private:
  int status_;
};

}  // namespace tessera::serve
