// The state in which a program that runs cold (task/task.h) finds its buffers.
#pragma once

#include <functional>

#include "module/module.h"

namespace lathe {

// Takes a module's buffers out of the caches but for its inputs, which somebody has just written in a
// network; a workspace, which a network's kernels share, is none of them. `pointer_of` says where the buffer
// with that place in module.buffers lies.
void evict_cold_buffers(const Module& module, const std::function<const void*(size_t)>& pointer_of);

}  // namespace lathe
