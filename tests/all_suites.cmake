# Fails if a test program has a suite that no ctest entry runs.
cmake_minimum_required(VERSION 3.25)
#   PROGRAM  the test program;  SUITES  those with an entry
execute_process(COMMAND ${PROGRAM} --gtest_list_tests OUTPUT_VARIABLE listing COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "(^|\n)[A-Za-z0-9_/]+\\." lines "${listing}")
if(NOT lines)
  message(FATAL_ERROR "${PROGRAM} lists no suite")
endif()
foreach(line IN LISTS lines)
  # "Suite." or, with parameters, "Instance/Suite."
  string(REGEX REPLACE "^\n?([A-Za-z0-9_]+/)?([A-Za-z0-9_]+)\\." "\\2" suite "${line}")
  if(NOT suite IN_LIST SUITES)
    message(FATAL_ERROR "the suite '${suite}' of ${PROGRAM} has no entry: see tessera_suites() in tests/CMakeLists.txt")
  endif()
endforeach()
