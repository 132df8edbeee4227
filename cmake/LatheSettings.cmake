# Compiler settings that every target of Lathe shares, as the interface library `lathe_settings`.
option(LATHE_BUILD_TESTS "build the tests" ON)
option(LATHE_LONG_TESTS "draw every case of the tests that draw them, not a fifth" OFF)
option(LATHE_BUILD_BENCH "build the benchmarks" OFF)
option(LATHE_BUILD_PEERS "build the plug-ins of `lathe bench --peers`" OFF)
option(LATHE_BUILD_FUZZERS "build the fuzzers, with clang" OFF)
set(LATHE_SANITIZE "" CACHE STRING "comma-separated sanitizers: address,undefined or thread")

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "build type" FORCE)
endif()
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)

add_library(lathe_settings INTERFACE)
# GCC 12's library calls its own deprecated get_temporary_buffer in std::stable_sort; clang counts that as ours.
target_compile_options(lathe_settings INTERFACE $<$<COMPILE_LANG_AND_ID:CXX,Clang>:-Wno-deprecated-declarations>)
target_compile_features(lathe_settings INTERFACE cxx_std_23)
set_target_properties(lathe_settings PROPERTIES INTERFACE_POSITION_INDEPENDENT_CODE ON)
target_compile_options(lathe_settings INTERFACE -Wall -Wextra -Werror -fno-math-errno)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # GCC 12 warns of overlapping copies inside its own std::string from -O2 on (GCC bug 105651).
  target_compile_options(lathe_settings INTERFACE -Wno-restrict)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
endif()
if(LATHE_SANITIZE)
  # No `vptr`: it wants run-time type information of the borrowed libraries' classes. Nor clang's `function`: it reads
  # the type of what is called before its code, where programs compiled here have nothing.
  set(LATHE_SANITIZE_FLAGS -fsanitize=${LATHE_SANITIZE} -fno-sanitize-recover=all -fno-sanitize=vptr)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    list(APPEND LATHE_SANITIZE_FLAGS -fno-sanitize=function)
    if(LATHE_SANITIZE MATCHES "address")
      # Null pointers and ends of objects are the address sanitizer's too; twice checked, code takes a quarter longer
      # to compile.
      list(APPEND LATHE_SANITIZE_FLAGS -fno-sanitize=null,object-size)
    endif()
  endif()
  target_compile_options(lathe_settings INTERFACE ${LATHE_SANITIZE_FLAGS} -fno-omit-frame-pointer)
  target_link_options(lathe_settings INTERFACE ${LATHE_SANITIZE_FLAGS})
endif()
find_program(LATHE_CCACHE ccache)
if(LATHE_CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${LATHE_CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${LATHE_CCACHE})
endif()

# Reading the standard library is half of the time that a small file takes to compile: a first build, without
# ccache, reads it once. With ccache this would only defeat the cache.
if(LATHE_CCACHE)
  set(LATHE_PRECOMPILE_DEFAULT OFF)
else()
  set(LATHE_PRECOMPILE_DEFAULT ON)
endif()
option(LATHE_PRECOMPILE "precompile the headers that most files include" ${LATHE_PRECOMPILE_DEFAULT})
set(LATHE_COMMON_HEADERS <algorithm> <cstdint> <expected> <functional> <map> <memory> <optional> <span> <string>
  <string_view> <unordered_map> <utility> <variant> <vector> <fmt/format.h>)
function(lathe_precompile target)
  if(LATHE_PRECOMPILE)
    target_precompile_headers(${target} PRIVATE ${LATHE_COMMON_HEADERS} ${ARGN})
  endif()
endfunction()

# Files of one folder compiled together, up to eight at once: a build of all takes half as long, one after a change
# of a single file longer. Names without linkage are one folder's, then, and no longer one file's. Tests are joined
# too, and keep theirs.
option(LATHE_JOIN "compile the files of a folder together" OFF)
function(lathe_join target)
  if(NOT LATHE_JOIN)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # GCC takes a file that another one includes for a header.
    target_compile_options(${target} PRIVATE -Wno-subobject-linkage)
  endif()
  foreach(file ${ARGN})
    get_filename_component(folder ${file} DIRECTORY)
    string(MAKE_C_IDENTIFIER "${folder}" group)
    if(NOT DEFINED ${group}_count)
      set(${group}_count 0)
    endif()
    math(EXPR part "${${group}_count} / 8")
    set_source_files_properties(${file} PROPERTIES UNITY_GROUP ${group}_${part})
    math(EXPR ${group}_count "${${group}_count} + 1")
  endforeach()
endfunction()
