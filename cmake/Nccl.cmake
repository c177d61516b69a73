# NCCL, for several processes with a GPU each. LibTorch with CUDA links to it; its headers come
# with the package nvidia-nccl beside torch, or with the system.
#
# Sets TESSERA_NCCL_INCLUDE: the folders of nccl.h and of the CUDA headers it needs; empty: not
# built in.
set(TESSERA_NCCL AUTO CACHE STRING "Several processes exchange values between GPUs by NCCL: AUTO, ON or OFF")
set_property(CACHE TESSERA_NCCL PROPERTY STRINGS AUTO ON OFF)
set(TESSERA_NCCL_INCLUDE "")
if(NOT TESSERA_NCCL STREQUAL "OFF" AND TESSERA_CUDA_LINKS)
  find_path(TESSERA_NCCL_HEADER nccl.h HINTS ${TESSERA_DEPS_DIR} ${TESSERA_DEPS_DIR}/include
            ${TESSERA_TORCH_ROOT}/../nvidia/nccl/include)
  mark_as_advanced(TESSERA_NCCL_HEADER)
  find_package(CUDAToolkit REQUIRED)
  # LibTorch's header of its NCCL group includes these, too. A toolkit without its libraries' headers
  # lacks them; pip installs them beside torch.
  file(GLOB _pip_cuda ${TESSERA_TORCH_ROOT}/../nvidia/cu*/include)
  find_path(TESSERA_CUSPARSE_HEADER cusparse.h HINTS ${CUDAToolkit_INCLUDE_DIRS} ${_pip_cuda})
  mark_as_advanced(TESSERA_CUSPARSE_HEADER)
  if(TESSERA_NCCL_HEADER AND TESSERA_CUSPARSE_HEADER)
    set(TESSERA_NCCL_INCLUDE ${TESSERA_NCCL_HEADER} ${CUDAToolkit_INCLUDE_DIRS} ${TESSERA_CUSPARSE_HEADER})
  endif()
endif()
if(TESSERA_NCCL STREQUAL "ON" AND NOT TESSERA_NCCL_INCLUDE)
  message(FATAL_ERROR "TESSERA_NCCL=ON needs a LibTorch with CUDA, nccl.h (the package nvidia-nccl beside torch, or "
    "-DTESSERA_DEPS_DIR=DIR) and the headers of the CUDA toolkit.")
endif()
