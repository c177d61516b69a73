#pragma once

#include <cstdint>
#include <string>

namespace tessera {

// Memory of the machine, or of the container or the process (ulimit -v) if that is less. Bytes; 0
// if the system does not say.
struct Memory {
  uint64_t total = 0;
  uint64_t available = 0;  // without swapping anything out
};
Memory machine_memory();

std::string bytes_text(double bytes);  // "31.2 GiB"

// To be called before something large is allocated: Linux grants memory that does not exist, and
// kills the process when it is used. Throws Error "{what}: that takes 3.1 TiB of memory, and there
// are 15.6 GiB in all" if there is too little.
//   bytes  an estimate; it must not be above what is needed
void require_memory(double bytes, const std::string& what, const std::string& hint);

}  // namespace tessera
