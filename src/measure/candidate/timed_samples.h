// Samples of a candidate's run as a TimingRequest asks for them.
#pragma once

#include <functional>

#include "measure/protocol.h"

namespace lathe {

// `first_seconds`: what the first run took. `before` precedes each run and is no part of it.
Samples timed_samples(const std::function<void()>& work, double first_seconds, const TimingRequest& request,
                      const std::function<void()>& before = {});

}  // namespace lathe
