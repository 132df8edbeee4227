#include "session/commands/check_artifact.h"

#include "artifact/open/verify_artifact.h"

namespace lathe {

Result<WholeArtifact> check_artifact(const std::string& folder) {
  LATHE_TRY(const Manifest manifest, verify_artifact(folder));
  return WholeArtifact{manifest.name, *manifest.build};
}

}  // namespace lathe
