#pragma once

#include <tessera/engine/generate_options.h>
#include <tessera/engine/sample_options.h>

#include <nlohmann/json.hpp>

#include <span>
#include <string_view>

namespace tessera::serve {

// The options in a request's body, one field each ("steps", "candidates", ...). Numbers will do for
// options that are text ("candidates": 5). Throws Refusal (400), which names the field, for values
// of another type, for fields that are neither options nor `others`, and for options that are the
// server's own to set.
GenerateOptions text_options(const nlohmann::json& body, std::span<const std::string_view> others);
SampleOptions image_options(const nlohmann::json& body, std::span<const std::string_view> others);

// `base` with what `changes` sets.
GenerateOptions merged(GenerateOptions base, const GenerateOptions& changes);
SampleOptions merged(SampleOptions base, const SampleOptions& changes);

}  // namespace tessera::serve
