#pragma once

namespace tessera::app {

// How to get the file of --features.
constexpr const char* kMakeExtractor =
    "give the TorchScript file of an extractor; `.venv/bin/python scripts/make-extractor DATA "
    "OUT.pt` trains one on a data set with classes, in a few minutes (docs/images.md)";

}  // namespace tessera::app
