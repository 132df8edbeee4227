// What a model.so is made of beside its kernels, as it was when Lathe was built: the archive of the model
// runtime and the two C headers that the generated tables include. Part of the executable; lives for ever.
#pragma once

#include <string_view>

namespace lathe {

std::string_view model_runtime_archive();
std::string_view kernel_abi_header();
std::string_view model_tables_header();

}  // namespace lathe
