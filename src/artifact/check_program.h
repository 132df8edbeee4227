// What a program computes, compared with a reference before it goes into an artifact.
#pragma once

#include <optional>

#include "artifact/compile_model.h"

namespace lathe {

// Why the program must not be used, as far as the options have it run. Notes in it where it could not be
// compared.
Result<std::optional<MeasureFailure>> check_program(CompiledTask& compiled,
                                                    const CompileModelOptions& options);

}  // namespace lathe
