# `pip install .` after `make build` takes the library and the program from build/, where they were
# built with the same
# LibTorch, instead of building them again. Then there are the same targets, imported.
#
# Sets TESSERA_READY_BUILD.

set(_build ${PROJECT_SOURCE_DIR}/build)
set(_facts "LibTorch ${TESSERA_TORCH_VERSION}, CUDA ${TESSERA_CUDA_LINKS}, ${CMAKE_CXX_COMPILER_ID} \
${CMAKE_CXX_COMPILER_VERSION}, ${CMAKE_BUILD_TYPE}, shared ${BUILD_SHARED_LIBS}, sanitizers ${TESSERA_SANITIZE}")
set(TESSERA_READY_BUILD OFF)
if(SKBUILD)
  if(EXISTS ${_build}/built_with.txt)
    file(READ ${_build}/built_with.txt _built_with)
    if(_built_with STREQUAL _facts)
      set(TESSERA_READY_BUILD ON)
    endif()
  endif()
elseif(PROJECT_IS_TOP_LEVEL)
  file(WRITE ${PROJECT_BINARY_DIR}/built_with.txt "${_facts}")
endif()

if(TESSERA_READY_BUILD)
  message(STATUS "The library and the program are taken from ${_build}")
  add_custom_target(tessera_ready_build COMMAND ${CMAKE_COMMAND} --build ${_build} --target tessera_program
    BYPRODUCTS ${_build}/src/libtessera.a ${_build}/bin/tessera USES_TERMINAL)
  add_library(tessera_internal STATIC IMPORTED)
  set_target_properties(tessera_internal PROPERTIES IMPORTED_LOCATION ${_build}/src/libtessera.a)
  target_include_directories(tessera_internal INTERFACE ${PROJECT_SOURCE_DIR}/include)
  target_link_libraries(tessera_internal INTERFACE tessera::torch ${TESSERA_DEP_LIBRARIES})
  if(TESSERA_CUDA_LINKS)
    find_package(CUDAToolkit REQUIRED)
    target_link_libraries(tessera_internal INTERFACE CUDA::cudart)
  endif()
  add_executable(tessera_program IMPORTED)
  set_target_properties(tessera_program PROPERTIES IMPORTED_LOCATION ${_build}/bin/tessera)
  add_dependencies(tessera_internal tessera_ready_build)
  add_dependencies(tessera_program tessera_ready_build)
endif()
