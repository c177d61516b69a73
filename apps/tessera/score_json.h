#pragma once

#include <tessera/evaluation/text_scores.h>

#include <nlohmann/json_fwd.hpp>

namespace tessera::app {

// A score of all texts, with its parts.
nlohmann::ordered_json score_json(const TextScore& score);

}  // namespace tessera::app
