// An artifact run once in a child of this process, which can be ended at any moment: nothing can end machine
// code that runs in this one.
#pragma once

#include "artifact/open/loaded_artifact.h"
#include "base/deadline.h"
#include "base/result.h"

namespace lathe {

// Seconds, with what it takes to prepare constants and to meet pages anew. The outputs stay in the child. An
// Error of kind timeout once the deadline is past; it says by which signal the run ended, or why it failed.
Result<double> run_apart(LoadedArtifact& artifact, const Deadline& deadline);

}  // namespace lathe
