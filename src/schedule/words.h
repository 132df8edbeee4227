// A schedule step as a sentence, for people who do not know the trace format.
#pragma once

#include <string>

#include "schedule/trace.h"

namespace lathe {

// "runs loop f.3 as vectors": what the step does to the block that it names first.
std::string in_words(const Step& step);
// The block that a step is about; for a layout and streamed stores the tensor, for a rewrite its stage.
std::string subject_of(const Step& step);

}  // namespace lathe
