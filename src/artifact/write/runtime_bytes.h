// What a model.so is made of beside its kernels, as it was when Lathe was built: the archive of the model
// runtime and its sources, the C headers that the generated tables include, and what stands for the C library
// when it is linked. Part of the executable; lives for ever.
#pragma once

#include <array>
#include <string_view>
#include <vector>

namespace lathe {

std::string_view model_runtime_archive();
std::string_view kernel_abi_header();
std::string_view model_tables_header();
std::string_view model_face_header();

// Libraries that define the functions that an artifact may use, each with its version in glibc 2.17 or older,
// and no code: a model.so that is linked with them runs with every glibc since, whatever this machine has.
struct SystemLibrary {
  const char* name;
  std::string_view bytes;
};
// Only what the kernels call makes a model.so need libm.
std::array<SystemLibrary, 4> system_libraries();

// The sources of the model runtime, for another architecture than this program's: the file's path below the
// folder of includes, and what it holds.
struct RuntimeSource {
  std::string_view path;
  std::string_view bytes;
};
std::vector<RuntimeSource> portable_runtime();

}  // namespace lathe
