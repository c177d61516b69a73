# Finds LibTorch and offers it as the target tessera::torch.
#
# LibTorch's own package file is not used: with a CUDA build it asks nvcc for things CMake 3.25 does not know. Its
# folder is all we need. Searched in this order:
#   1. Torch_DIR and CMAKE_PREFIX_PATH, variables of CMake or of the environment (a folder that holds include/ATen and
#      lib/, or the package folder within it)
#   2. the torch of the active Python
#   3. the project's own .venv
#
# Sets TESSERA_TORCH_ROOT, TESSERA_TORCH_VERSION and TESSERA_TORCH_HAS_CUDA.

set(TESSERA_TORCH_MINIMUM 2.11)

function(_tessera_torch_version root result)
  set(${result} "" PARENT_SCOPE)
  foreach(header torch/headeronly/version.h torch/csrc/api/include/torch/version.h)
    if(EXISTS ${root}/include/${header})
      file(STRINGS ${root}/include/${header} lines REGEX "define TORCH_VERSION_(MAJOR|MINOR|PATCH) ")
      list(TRANSFORM lines REPLACE "^.* ([0-9]+)$" "\\1")
      list(LENGTH lines count)
      if(count EQUAL 3)
        list(JOIN lines "." version)
        set(${result} ${version} PARENT_SCOPE)
        return()
      endif()
    endif()
  endforeach()
endfunction()

function(_tessera_python_torch python result)
  # pip hides installed packages from what it builds, but not where they are.
  execute_process(
    COMMAND ${python} -c "import importlib.util, sysconfig
spec = importlib.util.find_spec('torch')
print(spec.submodule_search_locations[0] if spec else sysconfig.get_paths()['platlib'] + '/torch')"
    OUTPUT_VARIABLE folder ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE failed)
  if(failed)
    set(folder "")
  endif()
  set(${result} "${folder}" PARENT_SCOPE)
endfunction()

set(_candidates "")
foreach(_folder IN ITEMS "${Torch_DIR}" "$ENV{Torch_DIR}")
  if(_folder)
    list(APPEND _candidates ${_folder} ${_folder}/../../..)
  endif()
endforeach()
string(REPLACE ":" ";" _prefixes "$ENV{CMAKE_PREFIX_PATH}")
foreach(_prefix IN LISTS CMAKE_PREFIX_PATH _prefixes)
  list(APPEND _candidates ${_prefix} ${_prefix}/../.. ${_prefix}/torch)
endforeach()
find_program(TESSERA_PYTHON3 NAMES python3 python)
set(_pythons "${TESSERA_PYTHON3}" "${CMAKE_CURRENT_LIST_DIR}/../.venv/bin/python3")
if(SKBUILD)  # pip install: the torch of that Python and no other
  set(_pythons "${Python_EXECUTABLE}")
endif()
foreach(_python IN LISTS _pythons)
  if(_python AND EXISTS ${_python})
    _tessera_python_torch(${_python} _folder)
    list(APPEND _candidates ${_folder})
  endif()
endforeach()

set(_seen "")
unset(TESSERA_TORCH_ROOT)
foreach(_root IN LISTS _candidates)
  if(EXISTS ${_root}/include/ATen/core/Tensor.h)
    get_filename_component(_root ${_root} REALPATH)
    _tessera_torch_version(${_root} _version)
    if(_version VERSION_GREATER_EQUAL TESSERA_TORCH_MINIMUM)
      set(TESSERA_TORCH_ROOT ${_root})
      set(TESSERA_TORCH_VERSION ${_version})
      break()
    endif()
    string(APPEND _seen "\n  ${_root}: version ${_version} is too old")
  endif()
endforeach()
if(NOT TESSERA_TORCH_ROOT)
  if(SKBUILD)
    message(FATAL_ERROR "${Python_EXECUTABLE} has no torch ${TESSERA_TORCH_MINIMUM} or newer, or hides it.${_seen}\n"
      "Install torch first, then: pip install --no-build-isolation . (which needs scikit-build-core and ninja)")
  endif()
  message(FATAL_ERROR "LibTorch ${TESSERA_TORCH_MINIMUM} or newer was not found.${_seen}\n"
    "Run 'make setup', or give its folder with -DTorch_DIR=DIR, or activate a Python that has torch.")
endif()

set(TESSERA_TORCH_HAS_CUDA OFF)
if(EXISTS ${TESSERA_TORCH_ROOT}/lib/libtorch_cuda.so)
  set(TESSERA_TORCH_HAS_CUDA ON)
endif()

if(NOT TARGET tessera::torch)
  add_library(tessera::torch INTERFACE IMPORTED)
  # -idirafter: system headers to the compiler, and searched last, so that the distribution's fmt is found before the
  # one LibTorch ships.
  target_compile_options(tessera::torch INTERFACE
    "$<$<COMPILE_LANGUAGE:CXX>:SHELL:-idirafter ${TESSERA_TORCH_ROOT}/include>"
    "$<$<COMPILE_LANGUAGE:CXX>:SHELL:-idirafter ${TESSERA_TORCH_ROOT}/include/torch/csrc/api/include>")
  set(_libraries ${TESSERA_TORCH_ROOT}/lib/libtorch.so ${TESSERA_TORCH_ROOT}/lib/libtorch_cpu.so
      ${TESSERA_TORCH_ROOT}/lib/libc10.so)
  # at::parallel_for compiles to OpenMP calls. Link the runtime that LibTorch itself uses, so that there are not two.
  file(GLOB _openmp ${TESSERA_TORCH_ROOT}/lib/libgomp*.so* ${TESSERA_TORCH_ROOT}/../torch.libs/libgomp*.so*)
  list(APPEND _openmp gomp)
  list(GET _openmp 0 _openmp)
  list(APPEND _libraries ${_openmp})
  if(TESSERA_TORCH_HAS_CUDA)
    list(APPEND _libraries -Wl,--no-as-needed ${TESSERA_TORCH_ROOT}/lib/libtorch_cuda.so -Wl,--as-needed
         ${TESSERA_TORCH_ROOT}/lib/libc10_cuda.so -Wl,--allow-shlib-undefined)
  endif()
  # LibTorch uses the shared C++ runtime. A compiler that has only the static one would make a second copy, whose
  # std::cerr and locales LibTorch would find before they are set up.
  execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=libstdc++.so OUTPUT_VARIABLE _runtime
                  OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(NOT IS_ABSOLUTE "${_runtime}")
    find_library(TESSERA_CXX_RUNTIME libstdc++.so.6)
    if(TESSERA_CXX_RUNTIME)
      list(APPEND _libraries ${TESSERA_CXX_RUNTIME})
    endif()
  endif()
  target_link_libraries(tessera::torch INTERFACE ${_libraries})
endif()
message(STATUS "LibTorch ${TESSERA_TORCH_VERSION} at ${TESSERA_TORCH_ROOT} (CUDA: ${TESSERA_TORCH_HAS_CUDA})")
