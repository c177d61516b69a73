// Idle threads of OpenMP spin unless OMP_WAIT_POLICY says otherwise, and beside one busy process
// that makes a training up to twenty times slower. The OpenMP library reads the variable when it is
// loaded, before main(). So the program sets it earlier still, among the functions that the dynamic
// linker calls before it starts any library, and starts itself again: the linker's work is done
// twice, which takes less than 10 ms. A policy that the user has set stays.

#include <unistd.h>

#include <cstring>

namespace {

bool sets(const char* entry, const char* name) {
  const size_t length = std::strlen(name);
  return std::strncmp(entry, name, length) == 0 && entry[length] == '=';
}

// Called before any library is set up: no allocation, no streams.
void start_with_passive_threads(int, char** arguments, char** environment) {
  constexpr size_t kMostVariables = 8192;
  static char* changed[kMostVariables + 2];
  size_t count = 0;
  for (; environment[count] != nullptr; ++count) {
    if (count == kMostVariables) return;
    if (sets(environment[count], "OMP_WAIT_POLICY") || sets(environment[count], "GOMP_SPINCOUNT"))
      return;
    changed[count] = environment[count];
  }
  static char policy[] = "OMP_WAIT_POLICY=PASSIVE";
  changed[count] = policy;
  ::execve("/proc/self/exe", arguments, changed);
  // Without /proc the program goes on as it is; `tessera doctor` says so.
}

using BeforeLibraries = void (*)(int argument_count, char** arguments, char** environment);
[[gnu::section(".preinit_array"), gnu::used]] const BeforeLibraries kFirst =
    start_with_passive_threads;

}  // namespace
