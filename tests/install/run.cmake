# cmake -DBUILD=... -DSOURCE=... -DWORK=... -DCXX=... -DLAUNCHER=... -DMODEL_MAKER=...
#       -DDOCS=... -DBUNDLED=... -DTORCH=... -P run.cmake
# Installs into an empty folder, builds the outside programs against it, runs all programs from
# there, uninstalls.
file(REMOVE_RECURSE ${WORK})
include(${CMAKE_CURRENT_LIST_DIR}/../run_command.cmake)
run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/prefix)
foreach(file bin/tessera share/tessera/recipes/tiny.toml share/tessera/recipes/tables/table1-multi30k.toml
        share/tessera/recipes/methods/vp.toml
        share/bash-completion/completions/tessera share/zsh/site-functions/_tessera
        share/fish/vendor_completions.d/tessera.fish share/man/man1/tessera.1
        share/doc/tessera/LICENSE share/doc/tessera/NOTICE)
  if(NOT EXISTS ${WORK}/prefix/${file})
    message(FATAL_ERROR "${file} was not installed")
  endif()
endforeach()
if(BUNDLED)
  execute_process(COMMAND ldd ${WORK}/prefix/bin/tessera OUTPUT_VARIABLE libraries)
  string(FIND "${libraries}" "${TORCH}" found)
  if(NOT found EQUAL -1)
    message(FATAL_ERROR "the installed program needs the LibTorch it was built with:\n${libraries}")
  endif()
endif()
run(${CMAKE_COMMAND} -G Ninja -S ${SOURCE} -B ${WORK}/build -DCMAKE_PREFIX_PATH=${WORK}/prefix
    -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_COMPILER=${CXX} -DCMAKE_CXX_COMPILER_LAUNCHER=${LAUNCHER})
run(${CMAKE_COMMAND} --build ${WORK}/build)
run(${WORK}/build/outside)

run(${MODEL_MAKER} ${WORK}/model ${WORK}/images)
file(WRITE ${WORK}/lines "a b c d\n\nz y x\n")
execute_process(COMMAND ${WORK}/build/translate ${WORK}/model INPUT_FILE ${WORK}/lines
                RESULT_VARIABLE failed OUTPUT_VARIABLE translated ERROR_VARIABLE err)
string(REGEX MATCHALL "\n" lines "${translated}")
list(LENGTH lines count)
if(failed OR NOT count EQUAL 3)
  message(FATAL_ERROR "translate gave ${failed} and ${count} lines:\n${translated}${err}")
endif()

execute_process(COMMAND ${WORK}/build/measure ${WORK}/model RESULT_VARIABLE failed OUTPUT_VARIABLE measured
                ERROR_VARIABLE err)
if(failed OR NOT measured MATCHES "^BLEU\\|.*\nchrF2\\|.*\n4 network calls, .* texts a second\n$")
  message(FATAL_ERROR "measure gave ${failed}:\n${measured}${err}")
endif()

run(${CMAKE_COMMAND} -E chdir ${WORK} ${WORK}/build/paint ${WORK}/images)
file(SIZE ${WORK}/15.pnm bytes)
if(NOT bytes EQUAL 203)  # "P6 8 8 255\n" and 8 x 8 x 3 values
  message(FATAL_ERROR "paint wrote a last image of ${bytes} bytes")
endif()

execute_process(COMMAND ${WORK}/build/report ${SOURCE}/../compatibility/fixture/text RESULT_VARIABLE failed
                OUTPUT_VARIABLE page ERROR_VARIABLE err)
if(failed OR NOT page MATCHES "<h1>A training run</h1>" OR NOT page MATCHES "<p>Made by Tessera [0-9.]+</p>")
  message(FATAL_ERROR "report gave ${failed}:\n${err}")
endif()

foreach(program translate measure paint report)
  execute_process(COMMAND ${WORK}/build/${program} ${WORK}/nowhere RESULT_VARIABLE failed ERROR_VARIABLE err)
  if(NOT failed EQUAL 1 OR NOT err MATCHES "error: [^\n]*nowhere'")
    message(FATAL_ERROR "${program} of a wrong path gave ${failed}:\n${err}")
  endif()
endforeach()

file(READ ${DOCS}/api.md document)
foreach(program translate measure paint report)
  file(READ ${SOURCE}/${program}.cpp example)
  string(FIND "${document}" "${example}" found)
  if(found EQUAL -1)
    message(FATAL_ERROR "docs/api.md does not show tests/install/${program}.cpp as it is")
  endif()
endforeach()
run(${WORK}/prefix/bin/tessera --version)

file(WRITE ${WORK}/prefix/share/tessera/mine "not ours")
run(${CMAKE_COMMAND} --build ${BUILD} --target uninstall)
file(GLOB_RECURSE left LIST_DIRECTORIES false ${WORK}/prefix/*)
if(NOT left STREQUAL ${WORK}/prefix/share/tessera/mine)
  message(FATAL_ERROR "after uninstalling there is\n${left}")
endif()
file(GLOB_RECURSE left LIST_DIRECTORIES true ${WORK}/prefix/*/tessera/*)
if(NOT left STREQUAL ${WORK}/prefix/share/tessera/mine)
  message(FATAL_ERROR "after uninstalling there is\n${left}")
endif()
