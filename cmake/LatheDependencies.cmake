# The libraries that Lathe borrows, all Debian packages, as the interface library `lathe_dependencies`.
# LLVM's own version check accepts equal minor versions only, so the major one is checked here.
find_package(LLVM REQUIRED CONFIG PATHS /usr/lib/llvm-22/lib/cmake/llvm NO_DEFAULT_PATH)
if(NOT LLVM_VERSION_MAJOR EQUAL 22)
  message(FATAL_ERROR "Lathe is written against LLVM 22; ${LLVM_DIR} is ${LLVM_PACKAGE_VERSION}")
endif()
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
find_package(SQLite3 REQUIRED)
find_package(Protobuf REQUIRED)
find_package(Threads REQUIRED)
find_library(XGBOOST_LIBRARY xgboost REQUIRED)
find_library(ONNX_PROTO_LIBRARY onnx_proto REQUIRED)
find_library(LATHE_JEMALLOC jemalloc REQUIRED)

add_library(lathe_dependencies INTERFACE)
target_include_directories(lathe_dependencies SYSTEM INTERFACE ${LLVM_INCLUDE_DIRS})
target_link_libraries(lathe_dependencies INTERFACE fmt::fmt nlohmann_json::nlohmann_json SQLite::SQLite3
  protobuf::libprotobuf Threads::Threads ${XGBOOST_LIBRARY} ${ONNX_PROTO_LIBRARY} ${CMAKE_DL_LIBS})
# The shared LLVM library keeps links short. What has the property LATHE_OWNS_LLVM set holds what it uses of it instead:
# most of a start of `lathe` was the relocation of a library of 150 MB, and most of its memory what that touched.
llvm_map_components_to_libnames(LATHE_LLVM_LIBRARIES InstCombine ScalarOpts JITLink X86 AArch64)
target_link_libraries(lathe_dependencies INTERFACE
  "$<IF:$<BOOL:$<TARGET_PROPERTY:LATHE_OWNS_LLVM>>,${LATHE_LLVM_LIBRARIES},LLVM>")
target_link_directories(lathe_dependencies INTERFACE ${LLVM_LIBRARY_DIRS})

# What the peers of `lathe bench --peers` wrap: linked by their plug-ins, never by Lathe.
if(LATHE_BUILD_PEERS)
  find_path(LATHE_ONEDNN_INCLUDE oneapi/dnnl/dnnl.hpp REQUIRED)
  find_library(LATHE_ONEDNN dnnl REQUIRED)
  find_path(LATHE_OPENBLAS_INCLUDE cblas.h PATH_SUFFIXES openblas openblas-pthread openblas-openmp REQUIRED)
  find_library(LATHE_OPENBLAS openblas REQUIRED)
endif()
