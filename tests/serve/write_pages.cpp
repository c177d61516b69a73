// Writes the web pages of the server into a folder: index.html and images.html.
//   write_pages FOLDER

#include "serve/pages.h"

#include <fstream>
#include <iostream>
#include <string>

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: write_pages FOLDER\n";
    return 2;
  }
  const std::string folder = argv[1];
  const auto write = [&](const std::string& name, const std::string& html) {
    std::ofstream file(folder + "/" + name, std::ios::binary);
    file << html;
    return static_cast<bool>(file.flush());
  };
  return write("index.html", tessera::serve::text_page(true)) &&
                 write("images.html", tessera::serve::image_page(true))
             ? 0
             : 1;
}
