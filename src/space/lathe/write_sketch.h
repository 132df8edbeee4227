// The trace of a sketch of the space `lathe`, stage by stage by the rules of space/rules.
#pragma once

#include "space/lathe/plan.h"

namespace lathe {

// For what the chooser answers; an Error where these answers do not go together.
Result<Trace> write_sketch(const Plan& plan, Chooser& chooser);

}  // namespace lathe
