// The numbers that a kind of features makes of a point and its program.
#pragma once

#include <string>
#include <vector>

#include "cost/feature_set.h"
#include "domain/domain.h"
#include "loop/loop.h"
#include "space/space.h"
#include "target/target.h"

namespace lathe {

// The names of a row's numbers, in their order.
std::vector<std::string> feature_row_names(FeatureKind kind, const std::vector<Sketch>& sketches);

// Of a program, of any kind but `configuration`; rows of a kind are of one length. Of loops as many as fit
// are taken, in the program's order; those that there are not are 0.
FeatureRows program_rows(FeatureKind kind, const Program& program, const Target& target);
// `configuration` of a point, which needs no program: numbers for every sketch's parameters, those of other
// sketches than its own missing (NaN).
FeatureRows configuration_rows(const std::vector<Sketch>& sketches, const Point& point);

}  // namespace lathe
