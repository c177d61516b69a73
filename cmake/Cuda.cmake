# CUDA. Our .cu files include no LibTorch header, so they compile (2 s per file) wherever nvcc is
# installed. They are linked into the library only if LibTorch has CUDA, too.
#
# Sets TESSERA_CUDA_COMPILES and TESSERA_CUDA_LINKS.

set(TESSERA_CUDA_COMPILES OFF)
set(TESSERA_CUDA_LINKS OFF)
if(NOT TESSERA_CUDA STREQUAL "OFF")
  # An nvcc on the PATH may be a wrapper script; the toolkit's own is preferred.
  if(NOT CMAKE_CUDA_COMPILER AND EXISTS /usr/local/cuda/bin/nvcc)
    set(CMAKE_CUDA_COMPILER /usr/local/cuda/bin/nvcc)
  endif()
  include(CheckLanguage)
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER)
    # Simple kernels: Ampere and Ada (8.x), Hopper, and intermediate code for the chips after it.
    set(TESSERA_CUDA_ARCHITECTURES 80-real 90-real 90-virtual)
    if(DEFINED CMAKE_CUDA_ARCHITECTURES)
      set(TESSERA_CUDA_ARCHITECTURES ${CMAKE_CUDA_ARCHITECTURES})
    endif()
    # Kernels with clusters and warpgroup products: Hopper. Later chips run them without the
    # products.
    set(TESSERA_HOPPER_ARCHITECTURES 90a-real 90-virtual)
    set(CMAKE_CUDA_ARCHITECTURES ${TESSERA_CUDA_ARCHITECTURES})
    set(CMAKE_CUDA_RUNTIME_LIBRARY Shared)
    enable_language(CUDA)
    if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)
      set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION "-std=c++20")
    endif()
    set(CMAKE_CUDA_STANDARD 20)
    set(TESSERA_CUDA_COMPILES ON)
    set(TESSERA_CUDA_LINKS ${TESSERA_TORCH_HAS_CUDA})
  endif()
  if(TESSERA_CUDA STREQUAL "ON" AND NOT TESSERA_CUDA_LINKS)
    message(FATAL_ERROR "TESSERA_CUDA=ON needs nvcc (found: ${CMAKE_CUDA_COMPILER}) and a LibTorch with CUDA "
      "(found: ${TESSERA_TORCH_ROOT}, CUDA ${TESSERA_TORCH_HAS_CUDA}). TESSERA_CUDA=AUTO builds without.")
  endif()
endif()
message(STATUS "CUDA kernels: compiled ${TESSERA_CUDA_COMPILES}, linked ${TESSERA_CUDA_LINKS}")
