// Whether what a long command will write at its end can be written: asked before it begins.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace lathe {

// An Error that names the first folder that cannot be made or written, or holds somebody else's files under
// an artifact's names, or the file that cannot be opened for writing; the file may lie in one of the folders,
// and an empty path names none. Leaves everything as it was.
Status check_destinations(const std::vector<std::string>& folders, const std::string& file);

}  // namespace lathe
