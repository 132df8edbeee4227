// The last step of compile and tune: the artifact's folder, and a line on stdout that names it.
#pragma once

#include <optional>
#include <string>

#include "artifact/model.h"
#include "base/result.h"

namespace lathe::cli {

Status write_model(const Model& model, const std::string& folder);
// An Error where write_model would find no compiler.
Status check_compiler();
// Says on stderr why a program was not used, or none was there, or one of several was not written.
void report_rejected(const std::string& sentence);
// Names the kernels whose results could not be compared with a reference, and says why; none: all were.
std::optional<std::string> uncompared_note(const Model& model);
// write_model for the kernels as C sources.
Status write_model_sources(const Model& model, const std::string& folder);

}  // namespace lathe::cli
