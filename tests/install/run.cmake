# cmake -DBUILD=... -DSOURCE=... -DWORK=... -DCXX=... -DLAUNCHER=... -DMODEL_MAKER=... -DDOCS=... -P run.cmake
# Installs into an empty folder, builds the outside programs against it, runs all programs from there.
file(REMOVE_RECURSE ${WORK})
function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE failed OUTPUT_VARIABLE out ERROR_VARIABLE out)
  if(failed)
    message(FATAL_ERROR "${ARGN}\n${out}")
  endif()
endfunction()
run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/prefix)
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

run(${CMAKE_COMMAND} -E chdir ${WORK} ${WORK}/build/paint ${WORK}/images)
file(SIZE ${WORK}/15.pnm bytes)
if(NOT bytes EQUAL 203)  # "P6 8 8 255\n" and 8 x 8 x 3 values
  message(FATAL_ERROR "paint wrote a last image of ${bytes} bytes")
endif()

file(READ ${DOCS}/api.md document)
foreach(program translate paint)
  file(READ ${SOURCE}/${program}.cpp example)
  string(FIND "${document}" "${example}" found)
  if(found EQUAL -1)
    message(FATAL_ERROR "docs/api.md does not show tests/install/${program}.cpp as it is")
  endif()
endforeach()
run(${WORK}/prefix/bin/tessera --version)
