// make_tiny_model TEXT IMAGES: writes a model folder of each kind, for tests outside the project.

#include "image_model/tiny_image_model.h"
#include "seq2seq/tiny_model.h"

#include <exception>
#include <iostream>

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  try {
    tessera::test::write_tiny_model(argv[1]);
    tessera::test::write_tiny_image_model(argv[2]);
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
  return 0;
}
