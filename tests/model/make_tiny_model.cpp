// make_tiny_model FOLDER: writes a model folder, for tests outside the project.

#include "model/tiny_model.h"

#include <exception>
#include <iostream>

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  try {
    tessera::test::write_tiny_model(argv[1]);
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
  return 0;
}
