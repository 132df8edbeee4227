# What find_package(lathe) reads: the libraries that Lathe borrows, then the targets lathe::core and lathe::worker.
include(${CMAKE_CURRENT_LIST_DIR}/LatheDependencies.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/lathe_targets.cmake)
target_link_libraries(lathe::core INTERFACE lathe_dependencies)
