# cmake --install: the library, its headers, the program with LibTorch's libraries, the recipes, the models, and a
# package that find_package(tessera) finds. The target `uninstall` removes what the last installation from this folder
# wrote.
include(CMakePackageConfigHelpers)
set(_package ${CMAKE_INSTALL_LIBDIR}/cmake/tessera)

install(TARGETS tessera EXPORT tessera)
install(EXPORT tessera NAMESPACE tessera:: FILE tesseraTargets.cmake DESTINATION ${_package})
if(TESSERA_TOOLS)
  install(TARGETS tessera_tools EXPORT tessera-tools)
  install(EXPORT tessera-tools NAMESPACE tessera:: FILE tesseraToolsTargets.cmake DESTINATION ${_package})
endif()
if(TESSERA_PROGRAM AND TESSERA_BUNDLE_TORCH)
  # LibTorch's libraries; those of the distribution stay where its packages put them.
  install(TARGETS tessera_program
    RUNTIME_DEPENDENCIES POST_EXCLUDE_REGEXES "^/lib" "^/usr/lib" DIRECTORIES ${TESSERA_TORCH_ROOT}/lib
    RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/tessera)
elseif(TESSERA_PROGRAM)
  install(TARGETS tessera_program RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/recipes DESTINATION ${CMAKE_INSTALL_DATADIR}/tessera)
if(TESSERA_PROGRAM AND TESSERA_MODELS AND EXISTS ${PROJECT_SOURCE_DIR}/models)
  # Cards in models/*.toml are for those who make the models anew.
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/models DESTINATION ${CMAKE_INSTALL_DATADIR}/tessera
          PATTERN "models/*.toml" EXCLUDE)
endif()
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/NOTICE ${PROJECT_SOURCE_DIR}/README.md
        DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/tesseraConfig.cmake.in
  ${PROJECT_BINARY_DIR}/tesseraConfig.cmake INSTALL_DESTINATION ${_package})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/tesseraConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/tesseraConfig.cmake ${PROJECT_BINARY_DIR}/tesseraConfigVersion.cmake
              ${PROJECT_SOURCE_DIR}/cmake/LibTorch.cmake
        DESTINATION ${_package})

if(PROJECT_IS_TOP_LEVEL)
  add_custom_target(uninstall COMMAND ${CMAKE_COMMAND} -DMANIFEST=${PROJECT_BINARY_DIR}/install_manifest.txt
    -P ${PROJECT_SOURCE_DIR}/cmake/Uninstall.cmake)
endif()
