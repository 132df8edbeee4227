// Files as a whole: what a write that fails leaves is the file that was there, or none.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "base/result.h"

namespace lathe {

// Writes the parts, one after another, beside the file and puts that in its place. What cannot be put in
// place so is written as it is: a pipe, a device, a file in a folder that takes no new ones. The Error names
// the file.
Status write_file(const std::string& path, std::initializer_list<std::string_view> parts);

}  // namespace lathe
