# Compiler settings for our own code, not for code that links to us: link tessera_settings PRIVATE.
add_library(tessera_settings INTERFACE)
target_compile_options(tessera_settings INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wshadow -Wnon-virtual-dtor>
  # GCC 12 and 13 see overlapping, overflowing and out-of-bounds copies in std::string and fmt where
  # there are none.
  $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CXX_COMPILER_ID:GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,14>>:-Wno-restrict -Wno-stringop-overflow -Wno-array-bounds>
  # In a unity build sources are included like headers, where GCC warns of fields whose type is in
  # an unnamed namespace.
  $<$<AND:$<BOOL:${CMAKE_UNITY_BUILD}>,$<COMPILE_LANGUAGE:CXX>,$<CXX_COMPILER_ID:GNU>>:-Wno-subobject-linkage>
  $<$<AND:$<BOOL:${TESSERA_WERROR}>,$<COMPILE_LANGUAGE:CXX>>:-Werror>
  $<$<COMPILE_LANGUAGE:CUDA>:-Wno-deprecated-gpu-targets>)
if(TESSERA_SANITIZE STREQUAL "THREAD")
  set(_sanitizers -fsanitize=thread)
elseif(TESSERA_SANITIZE)
  set(_sanitizers -fsanitize=address,undefined -fno-sanitize-recover=undefined)
endif()
if(TESSERA_LIBFUZZER)
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES Clang)
    message(FATAL_ERROR "TESSERA_LIBFUZZER needs Clang: -DCMAKE_CXX_COMPILER=clang++")
  endif()
  # Reports which branches are taken.
  target_compile_options(tessera_settings INTERFACE -fsanitize=fuzzer-no-link)
endif()
if(TESSERA_SANITIZE)
  # In instrumented code GCC gives false warnings of uninitialised variables. It also warns of
  # fences, which its thread sanitizer does not understand.
  target_compile_options(tessera_settings INTERFACE -Wno-maybe-uninitialized -Wno-tsan ${_sanitizers}
    -fno-omit-frame-pointer)
  target_link_options(tessera_settings INTERFACE ${_sanitizers})
endif()
