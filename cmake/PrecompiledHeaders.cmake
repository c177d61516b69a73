# Headers that most files read and that take long to parse, compiled once for each set of flags: the
# library, the program, the tests. Every file includes what it uses all the same:
# -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON with -DCMAKE_UNITY_BUILD=OFF compiles each as it is.
set(TESSERA_COMMON_HEADERS <ATen/ATen.h> <fmt/format.h> <fmt/ranges.h> <nlohmann/json.hpp> <algorithm> <filesystem>
    <functional> <map> <optional> <string> <vector>)

# Commands and tests leave the work to the library; optimising them fully would make a build a third
# longer.
add_library(tessera_light_optimisation INTERFACE)
target_compile_options(tessera_light_optimisation INTERFACE $<$<CONFIG:Release>:-O1>)
