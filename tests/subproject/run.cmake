# cmake -DSOURCE=... -DWORK=... -DCXX=... -DTORCH=... -DBUILD=ON|OFF -P run.cmake
# Configures a project that has Tessera as a part. With BUILD=ON it is also built and run, which
# compiles the library anew.
file(REMOVE_RECURSE ${WORK})
include(${CMAKE_CURRENT_LIST_DIR}/../run_command.cmake)
run(${CMAKE_COMMAND} -G Ninja -S ${SOURCE}/tests/subproject -B ${WORK} -DTESSERA_SOURCE=${SOURCE} -DTorch_DIR=${TORCH}
    -DCMAKE_CXX_COMPILER=${CXX})
if(BUILD)
  run(${CMAKE_COMMAND} --build ${WORK} --target outside)
  run(${WORK}/outside)
endif()
