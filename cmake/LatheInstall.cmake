# `cmake --install`: the programs, the library with its public headers for programs of one's own (docs/extending.md), the
# examples and the pages on formats. Afterwards `find_package(lathe)` gives the targets lathe::core and lathe::worker.
include(CMakePackageConfigHelpers)
set(LATHE_PACKAGE_FOLDER lib/cmake/lathe)
install(TARGETS lathe RUNTIME DESTINATION bin)
install(TARGETS lathe-worker EXPORT lathe_targets RUNTIME DESTINATION bin)
install(TARGETS lathe_core EXPORT lathe_targets ARCHIVE DESTINATION lib)
set_target_properties(lathe_core PROPERTIES EXPORT_NAME core)
set_target_properties(lathe-worker PROPERTIES EXPORT_NAME worker)
install(EXPORT lathe_targets NAMESPACE lathe:: FILE lathe_targets.cmake DESTINATION ${LATHE_PACKAGE_FOLDER})
install(DIRECTORY ${CMAKE_SOURCE_DIR}/include/lathe DESTINATION include FILES_MATCHING PATTERN "*.h")
install(DIRECTORY ${CMAKE_SOURCE_DIR}/examples ${CMAKE_SOURCE_DIR}/docs ${CMAKE_SOURCE_DIR}/workloads
  DESTINATION share/lathe)
install(FILES ${CMAKE_SOURCE_DIR}/LICENSE ${CMAKE_SOURCE_DIR}/README.md DESTINATION share/lathe)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/lathe-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_SOURCE_DIR}/cmake/lathe-config.cmake ${CMAKE_SOURCE_DIR}/cmake/LatheDependencies.cmake
  ${CMAKE_BINARY_DIR}/lathe-config-version.cmake DESTINATION ${LATHE_PACKAGE_FOLDER})
