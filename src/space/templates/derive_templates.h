// The space `autotvm`: one template a product, as a person writes it once for a kind of operator, with knobs
// whose values are the space ([A] 2, S_e; the papers' templates are TVM's). A template is found by what the
// operands do with each axis, never by an operator's name. All else of a task is no matter of a search: what
// pads or spreads out an image, and what follows a product element by element, is as the rules of space/rules
// prefer.
#pragma once

#include "space/space.h"

namespace lathe {

// One sketch, without points to begin with. An Error of kind unsupported where the target is no processor,
// where the task requires an algorithm, and, naming the compute, where no template fits one that reduces, or
// where there is none that does.
Result<Space> derive_templates(const Task& task);

}  // namespace lathe
