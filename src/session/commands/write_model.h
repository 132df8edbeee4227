// The last step of compiling and tuning: the artifact's folder, and what one of its runs takes.
#pragma once

#include <optional>
#include <string>

#include "artifact/model.h"
#include "artifact/open/time_artifact.h"
#include "base/deadline.h"
#include "base/result.h"
#include "session/commands/precision_error.h"
#include "session/teller.h"

namespace lathe {

struct WrittenModel {
  std::string name;
  std::string folder;
  std::optional<ArtifactTime> time = {};         // of a run; none where it was not timed
  std::optional<std::string> untimed = {};       // why it could not be, where this machine runs it
  std::optional<PrecisionError> precision = {};  // of a network with a precision, where it was measured
};

// The folder of an operator's artifact below `out`, however that ends.
std::string folder_below(const std::string& out, const std::string& name);
// The run is timed where this machine can run it, as long as the deadline lets it; `work` is told of it
// before.
Result<WrittenModel> write_model(Model model, const std::string& folder, const Deadline& deadline,
                                 const WorkObserver& work);
// write_model without a run.
Status write_untimed(Model model, const std::string& folder);
// write_model for the kernels as C sources.
Result<WrittenModel> write_model_sources(Model model, const std::string& folder);
// An Error where write_model would find no compiler.
Status check_compiler();
// An Error for a name that is none, or that would be the name of several models; empty: each has its own.
Status check_name(const std::string& name, size_t models);
// Names the kernels whose results were not all compared with a reference, and says why; none: all were.
std::optional<std::string> uncompared_note(const Model& model);
// Says how many kernels the records have no usable program for; none without records, or where all have one.
std::optional<std::string> untuned_note(const Model& model, const std::string& records);

}  // namespace lathe
