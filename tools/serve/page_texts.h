#pragma once

#include <string_view>

namespace tessera::serve {

// The files in pages/, put into the program by cmake/EmbedText.cmake.
extern const std::string_view kCommonCss, kCommonJs;                        // of both pages
extern const std::string_view kTranslateHtml, kTranslateCss, kTranslateJs;  // sentences
extern const std::string_view kImagesHtml, kImagesCss, kImagesJs;           // pictures

}  // namespace tessera::serve
