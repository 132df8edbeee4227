// Runs of an artifact on a timeline: Chrome's trace event format, which chrome://tracing and Perfetto show.
#pragma once

#include <string>

#include "artifact/open/loaded_artifact.h"
#include "base/result.h"

namespace lathe {

// Runs it so often, one run after another, and gives the JSON text: a row for each thread of the artifact,
// with complete events (in microseconds from the first run's begin) for runs, conversions and launches, and
// for the parts of launches that are spread over several threads. Events of launches bear operators,
// operations and bytes as arguments. All inputs must have been set.
Result<std::string> trace_runs(LoadedArtifact& artifact, int runs);

}  // namespace lathe
