// Whether an artifact is whole, and its files go together.
#pragma once

#include <string>

#include "artifact/manifest.h"
#include "base/result.h"

namespace lathe {

// Reads all of the folder's files: their hashes, their builds, and what manifest and library say of inputs
// and outputs. The manifest, or an Error that names the first thing that is wrong.
Result<Manifest> verify_artifact(const std::string& folder);

}  // namespace lathe
