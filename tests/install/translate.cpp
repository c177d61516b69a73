#include <tessera/base/error.h>
#include <tessera/engine/translator.h>

#include <iostream>

int main(int argc, char** argv) try {
  const tessera::Translator translator(argc > 1 ? argv[1] : "runs/m30k", {.steps = 10});
  for (std::string line; std::getline(std::cin, line);)
    std::cout << translator.translate(line) << '\n';
} catch (const tessera::Error& error) {  // a wrong path, a damaged file, a line that is not UTF-8
  std::cerr << "error: " << error.what() << '\n';
  if (!error.hint().empty()) std::cerr << "hint: " << error.hint() << '\n';
  return 1;
}
