#include <tessera/model/translator.h>

#include <iostream>

int main(int argc, char** argv) {
  const tessera::Translator translator(argc > 1 ? argv[1] : "runs/m30k", {.steps = 10});
  for (std::string line; std::getline(std::cin, line);)
    std::cout << translator.translate(line) << '\n';
}
