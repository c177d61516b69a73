#pragma once

#include <filesystem>

namespace tessera::test {

inline const std::filesystem::path kTextFixtures = TESSERA_TEXT_FIXTURES;

}  // namespace tessera::test
