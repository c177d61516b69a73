# cmake --install: the library, its headers, the program with LibTorch's libraries, the recipes, the
# models, and a package that find_package(tessera) finds. The target `uninstall` removes what the
# last installation from this folder wrote.
#
# Components: `program` is what the program needs, `development` the library and its headers. cpack
# packs the first, with the distribution's libraries that the program needs (`closure`, which a
# plain installation leaves out).
include(CMakePackageConfigHelpers)
set(_package ${CMAKE_INSTALL_LIBDIR}/cmake/tessera)

set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME development)
install(TARGETS tessera EXPORT tessera)
install(EXPORT tessera NAMESPACE tessera:: FILE tesseraTargets.cmake DESTINATION ${_package})
if(TESSERA_TOOLS)
  install(TARGETS tessera_tools EXPORT tessera-tools)
  install(EXPORT tessera-tools NAMESPACE tessera:: FILE tesseraToolsTargets.cmake DESTINATION ${_package})
endif()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/tesseraConfig.cmake.in
  ${PROJECT_BINARY_DIR}/tesseraConfig.cmake INSTALL_DESTINATION ${_package})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/tesseraConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/tesseraConfig.cmake ${PROJECT_BINARY_DIR}/tesseraConfigVersion.cmake
              ${PROJECT_SOURCE_DIR}/cmake/LibTorch.cmake
        DESTINATION ${_package})

set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME program)
if(TESSERA_PROGRAM AND TESSERA_BUNDLE_TORCH)
  # LibTorch's libraries; those of the distribution stay where its packages put them.
  install(TARGETS tessera_program RUNTIME_DEPENDENCY_SET tessera_needs RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  install(RUNTIME_DEPENDENCY_SET tessera_needs
    POST_EXCLUDE_REGEXES "^/lib" "^/usr/lib" DIRECTORIES ${TESSERA_TORCH_ROOT}/lib
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/tessera)
  # All others but those of the C library and of the compiler, which must be the machine's own.
  install(RUNTIME_DEPENDENCY_SET tessera_needs
    POST_EXCLUDE_REGEXES "^${TESSERA_TORCH_ROOT}" "/(ld-linux-x86-64|lib(c|m|dl|rt|pthread|stdc\\+\\+|gcc_s|gomp))\\.so"
    DIRECTORIES ${TESSERA_TORCH_ROOT}/lib
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/tessera COMPONENT closure EXCLUDE_FROM_ALL)
  # The licences of what goes along, as pip and Debian have them.
  file(GLOB _licences ${TESSERA_TORCH_ROOT}/../torch-*.dist-info/licenses)
  foreach(_folder IN LISTS _licences)
    install(DIRECTORY ${_folder}/ DESTINATION ${CMAKE_INSTALL_DOCDIR}/libtorch)
  endforeach()
  foreach(_library IN ITEMS libfmt libpng16 libutf8proc zlib1g liblzma)
    file(GLOB _licences /usr/share/doc/${_library}[0-9-]*/copyright /usr/share/doc/${_library}/copyright)
    if(_licences)
      list(GET _licences 0 _licence)
      install(FILES ${_licence} DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME ${_library}.copyright COMPONENT closure
              EXCLUDE_FROM_ALL)
    endif()
  endforeach()
elseif(TESSERA_PROGRAM)
  install(TARGETS tessera_program RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/recipes DESTINATION ${CMAKE_INSTALL_DATADIR}/tessera)
if(TESSERA_PROGRAM AND TESSERA_MODELS)
  file(GLOB _models ${PROJECT_SOURCE_DIR}/models/*/config.json)
  foreach(_model IN LISTS _models)
    get_filename_component(_model ${_model} DIRECTORY)
    install(DIRECTORY ${_model} DESTINATION ${CMAKE_INSTALL_DATADIR}/tessera/models)
  endforeach()
endif()
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/NOTICE ${PROJECT_SOURCE_DIR}/README.md
        DESTINATION ${CMAKE_INSTALL_DOCDIR})
if(TESSERA_PROGRAM AND NOT CMAKE_CROSSCOMPILING)
  # The program writes them itself, when it is installed.
  set(_written ${PROJECT_BINARY_DIR}/written)
  install(CODE "
    file(MAKE_DIRECTORY \"${_written}\")
    foreach(arguments IN ITEMS \"completion;bash\" \"completion;zsh\" \"completion;fish\" man)
      list(JOIN arguments - name)
      execute_process(COMMAND \"$<TARGET_FILE:tessera_program>\" \${arguments} OUTPUT_FILE \"${_written}/\${name}\"
                      COMMAND_ERROR_IS_FATAL ANY)
    endforeach()")
  install(FILES ${_written}/completion-bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions
          RENAME tessera)
  install(FILES ${_written}/completion-zsh DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions RENAME _tessera)
  install(FILES ${_written}/completion-fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d
          RENAME tessera.fish)
  install(FILES ${_written}/man DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 RENAME tessera.1)
endif()

if(PROJECT_IS_TOP_LEVEL)
  add_custom_target(uninstall COMMAND ${CMAKE_COMMAND} -DMANIFEST=${PROJECT_BINARY_DIR}/install_manifest.txt
    -P ${PROJECT_SOURCE_DIR}/cmake/Uninstall.cmake)
endif()

# With CUDA LibTorch stays where it is, and a package would be of no use elsewhere.
if(PROJECT_IS_TOP_LEVEL AND TESSERA_PROGRAM AND TESSERA_BUNDLE_TORCH)
  set(CPACK_GENERATOR TGZ)
  set(CPACK_COMPONENTS_ALL program closure)
  set(CPACK_ARCHIVE_COMPONENT_INSTALL ON)
  set(CPACK_COMPONENTS_GROUPING ALL_COMPONENTS_IN_ONE)
  set(CPACK_COMPONENT_INCLUDE_TOPLEVEL_DIRECTORY ON)
  set(CPACK_PACKAGE_FILE_NAME tessera-${PROJECT_VERSION}-${CMAKE_SYSTEM_NAME}-${CMAKE_SYSTEM_PROCESSOR})
  set(CPACK_VERBATIM_VARIABLES ON)
  include(CPack)
endif()
