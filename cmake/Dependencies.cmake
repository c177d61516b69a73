# Header-only libraries, each as an INTERFACE target tessera_dep_NAME. Looked for in TESSERA_DEPS_DIR first.

function(tessera_header_library name header package)
  find_path(TESSERA_${name}_INCLUDE ${header} HINTS ${TESSERA_DEPS_DIR} ${TESSERA_DEPS_DIR}/include)
  if(NOT TESSERA_${name}_INCLUDE)
    message(FATAL_ERROR "The header <${header}> was not found. Install ${package}, or put the header into a folder "
      "and name it with -DTESSERA_DEPS_DIR=DIR.")
  endif()
  add_library(tessera_dep_${name} INTERFACE)
  if(NOT TESSERA_${name}_INCLUDE STREQUAL "/usr/include")
    target_include_directories(tessera_dep_${name} SYSTEM INTERFACE ${TESSERA_${name}_INCLUDE})
  endif()
endfunction()

tessera_header_library(fmt fmt/format.h libfmt-dev)
target_compile_definitions(tessera_dep_fmt INTERFACE FMT_HEADER_ONLY)
tessera_header_library(spdlog spdlog/spdlog.h libspdlog-dev)
target_compile_definitions(tessera_dep_spdlog INTERFACE SPDLOG_FMT_EXTERNAL)
tessera_header_library(json nlohmann/json.hpp nlohmann-json3-dev)
tessera_header_library(toml toml++/toml.h libtomlplusplus-dev)
tessera_header_library(cli CLI/CLI.hpp libcli11-dev)
