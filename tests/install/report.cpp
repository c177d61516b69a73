#include <tessera/base/error.h>
#include <tessera/report/training_report.h>

#include <iostream>
#include <vector>

int main(int argc, char** argv) try {
  const std::vector<std::filesystem::path> runs(argv + 1, argv + argc);
  std::cout << tessera::training_report(runs);
} catch (const tessera::Error& error) {
  std::cerr << "error: " << error.what() << '\n';
  return 1;
}
