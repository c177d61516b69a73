# Puts text files into the program as constants, so that it needs no file beside it.
#   tessera_embed(target OUTPUT file.cpp HEADER header NAMESPACE namespace FILES path...)
# `header` declares a `std::string_view` for every file: kCommonCss for ".../common.css".
function(tessera_embed target)
  cmake_parse_arguments(PARSE_ARGV 1 embed "" "OUTPUT;HEADER;NAMESPACE" "FILES")
  set(output ${CMAKE_CURRENT_BINARY_DIR}/${embed_OUTPUT})
  list(TRANSFORM embed_FILES PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
  set(script ${PROJECT_SOURCE_DIR}/cmake/write_embedded_text.cmake)
  add_custom_command(OUTPUT ${output} DEPENDS ${embed_FILES} ${script} VERBATIM
    COMMAND ${CMAKE_COMMAND} -DOUTPUT=${output} -DHEADER=${embed_HEADER} -DNAMESPACE=${embed_NAMESPACE}
      "-DFILES=${embed_FILES}" -P ${script})
  target_sources(${target} PRIVATE ${output})
endfunction()
