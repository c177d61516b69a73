# The libraries we use, each as an INTERFACE target tessera_dep_NAME for compiling.
# TESSERA_DEP_LIBRARIES lists what to link, TESSERA_DEP_PACKAGES the CMake packages that define
# those targets (tesseraConfig.cmake finds them again), and TESSERA_DEP_DEFINITIONS says
# TESSERA_HAS_NAME for every optional library that is there.
#
# A library is looked for in TESSERA_DEPS_DIR first (headers, and lib/ for compiled ones), then as a
# CMake package of its own, then in the system's folders.
set(TESSERA_DEP_LIBRARIES "")
set(TESSERA_DEP_PACKAGES "")
set(TESSERA_DEP_DEFINITIONS "")

#   tessera_dependency(name header debian_package [PACKAGE package TARGET target]
#                      [LIBRARY library [HEADER_ONLY definition]] [OPTIONAL])
# HEADER_ONLY: if the library is missing, its headers alone are used, with this definition.
function(tessera_dependency name header debian_package)
  cmake_parse_arguments(arg "OPTIONAL" "PACKAGE;TARGET;LIBRARY;HEADER_ONLY" "" ${ARGN})
  add_library(tessera_dep_${name} INTERFACE)
  set(link "")
  find_path(TESSERA_${name}_OWN_INCLUDE ${header} PATHS ${TESSERA_DEPS_DIR} ${TESSERA_DEPS_DIR}/include NO_DEFAULT_PATH)
  mark_as_advanced(TESSERA_${name}_OWN_INCLUDE)
  if(arg_PACKAGE AND NOT TESSERA_${name}_OWN_INCLUDE)
    find_package(${arg_PACKAGE} QUIET)
  endif()
  if(arg_TARGET AND TARGET "${arg_TARGET}" AND NOT TESSERA_${name}_OWN_INCLUDE)
    target_link_libraries(tessera_dep_${name} INTERFACE ${arg_TARGET})
    if(arg_LIBRARY)
      set(link ${arg_TARGET})
      set(TESSERA_DEP_PACKAGES ${TESSERA_DEP_PACKAGES} ${arg_PACKAGE} PARENT_SCOPE)
    endif()
  else()
    find_path(TESSERA_${name}_INCLUDE ${header} HINTS ${TESSERA_DEPS_DIR} ${TESSERA_DEPS_DIR}/include)
    mark_as_advanced(TESSERA_${name}_INCLUDE)
    if(arg_LIBRARY)
      find_library(TESSERA_${name}_LIBRARY ${arg_LIBRARY} HINTS ${TESSERA_DEPS_DIR} ${TESSERA_DEPS_DIR}/lib)
      mark_as_advanced(TESSERA_${name}_LIBRARY)
      get_filename_component(folder "${TESSERA_${name}_LIBRARY}" DIRECTORY)
      # Named without its path if every linker finds it: an installed library must not depend on
      # this machine's paths.
      if(folder IN_LIST CMAKE_CXX_IMPLICIT_LINK_DIRECTORIES)
        set(link ${arg_LIBRARY})
      elseif(TESSERA_${name}_LIBRARY)
        set(link ${TESSERA_${name}_LIBRARY})
      endif()
    endif()
    if(NOT TESSERA_${name}_INCLUDE OR (arg_LIBRARY AND NOT link AND NOT arg_HEADER_ONLY))
      if(NOT arg_OPTIONAL)
        message(FATAL_ERROR "<${header}> was not found. Install ${debian_package}, or put it into a folder and name it "
          "with -DTESSERA_DEPS_DIR=DIR (libraries in DIR/lib).")
      endif()
      message(STATUS "${debian_package} was not found: files that need it cannot be read")
      return()
    endif()
    if(NOT TESSERA_${name}_INCLUDE STREQUAL "/usr/include")
      target_include_directories(tessera_dep_${name} SYSTEM INTERFACE ${TESSERA_${name}_INCLUDE})
    endif()
  endif()
  if(link)
    set(TESSERA_DEP_LIBRARIES ${TESSERA_DEP_LIBRARIES} ${link} PARENT_SCOPE)
  elseif(arg_HEADER_ONLY)
    target_compile_definitions(tessera_dep_${name} INTERFACE ${arg_HEADER_ONLY})
  endif()
  string(TOUPPER ${name} upper)
  if(arg_OPTIONAL)
    set(TESSERA_DEP_DEFINITIONS ${TESSERA_DEP_DEFINITIONS} TESSERA_HAS_${upper} PARENT_SCOPE)
  endif()
endfunction()

# fmt's library saves a fifth of the compile time.
tessera_dependency(fmt fmt/format.h libfmt-dev PACKAGE fmt TARGET fmt::fmt LIBRARY fmt HEADER_ONLY FMT_HEADER_ONLY)
tessera_dependency(json nlohmann/json.hpp nlohmann-json3-dev PACKAGE nlohmann_json TARGET nlohmann_json::nlohmann_json)
# Its CMake package is for the compiled library, which is not needed here.
tessera_dependency(toml toml++/toml.h libtomlplusplus-dev)
tessera_dependency(cli CLI/CLI.hpp libcli11-dev PACKAGE CLI11 TARGET CLI11::CLI11)
tessera_dependency(xxhash xxhash.h libxxhash-dev)
tessera_dependency(utf8proc utf8proc.h libutf8proc-dev LIBRARY utf8proc)
tessera_dependency(png png.h libpng-dev PACKAGE PNG TARGET PNG::PNG LIBRARY png)
tessera_dependency(zlib zlib.h zlib1g-dev PACKAGE ZLIB TARGET ZLIB::ZLIB LIBRARY z)
tessera_dependency(lzma lzma.h liblzma-dev PACKAGE LibLZMA TARGET LibLZMA::LibLZMA LIBRARY lzma OPTIONAL)
