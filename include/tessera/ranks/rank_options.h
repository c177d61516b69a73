#pragma once

#include <string>

namespace tessera {

// The place of this process among those that train together. The default: it is alone.
struct RankOptions {
  int rank = 0, size = 1;              // over all machines; process 0 writes
  int local_rank = 0, local_size = 1;  // on this machine
  std::string address = "127.0.0.1";   // of the machine of process 0
  int port = 29500;
  bool served = false;       // somebody else (torchrun) already serves at this address
  std::string attempt = {};  // differs between restarts that share a server
  double timeout = 600;      // seconds to wait for others before they are given up

  bool operator==(const RankOptions&) const = default;
};

}  // namespace tessera
