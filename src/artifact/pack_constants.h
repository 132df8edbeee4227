// Constants of a network in the form in which a kernel reads them.
#pragma once

#include <cstddef>
#include <functional>
#include <span>

#include "artifact/model.h"
#include "base/result.h"

namespace lathe {

// Takes the bytes of one of the kernel's buffers; they are gone when it returns.
using PackedTaker = std::function<Status(size_t buffer, std::span<const std::byte> bytes)>;

// Gives the bytes of each buffer that is kept, in their order: constants in the kernel's layouts, and what
// its prepare entry, which is run for that, makes of them. An Error is the taker's, or says why the entry
// cannot be run.
Status pack_constants(const ModelConstants& constants, const CompiledTask& kernel, const PackedTaker& take);

}  // namespace lathe
