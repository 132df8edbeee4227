// The command `verify`.
#pragma once

#include <string>

#include "base/result.h"

namespace lathe {

struct WholeArtifact {
  std::string name;
  std::string build;
};
// An Error names the first thing that is wrong.
Result<WholeArtifact> check_artifact(const std::string& folder);

}  // namespace lathe
