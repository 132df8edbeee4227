// The same work for many numbers on several threads, the calling one among them. What a thread needs for
// itself it makes at its begin and keeps while it takes one number after another.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>

#include "base/result.h"

namespace lathe {

// The next of the numbers 0 .. count - 1; none once all are taken, or a thread has failed.
using NextNumber = std::function<std::optional<size_t>()>;
// What one thread does. Once `next` has nothing more it returns.
using ThreadWork = std::function<Status(const NextNumber& next)>;

// `here` runs in the calling thread, `elsewhere` in each of so many others; `waiting` is called in the
// calling thread a few times a second while only others work still. The first Error in the order of the
// threads.
Status side_by_side(size_t count, size_t others, const ThreadWork& here, const ThreadWork& elsewhere,
                    const std::function<void()>& waiting);

}  // namespace lathe
