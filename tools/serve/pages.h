#pragma once

#include <string>

namespace tessera::serve {

// The web pages: whole documents that need nothing but the routes of /v1.
//   texts, images  whether there are such models: pages refer to each other only if there are both
std::string text_page(bool images);
std::string image_page(bool texts);

}  // namespace tessera::serve
