#pragma once

#include <map>
#include <string>

#include "flow/comparison.h"
#include "flow/options.h"
#include "flow/page.h"

namespace tessera::flow {

// Everything `tessera flow` makes.
struct Gallery {
  std::map<std::string, std::string> files;  // name -> bytes: index.html and the drawings
  Comparison comparison;
};

// Equal options give equal files (on one machine).
Gallery make_gallery(const FlowOptions& options, at::Device device, const PageContext& context);

}  // namespace tessera::flow
