// The table of backends.
#pragma once

#include <span>

#include "codegen/backend.h"

namespace lathe {

std::span<const Backend> all_backends();

// The first that emits modules for the target; an Error (unsupported) where there is none.
Result<const Backend*> find_emitter(const Target& target);
// The one that takes the target and has that form of text; an Error where there is none.
Result<const TextForm*> find_form(const Target& target, std::string_view name);

}  // namespace lathe
