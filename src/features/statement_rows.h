// What Ansor's cost model sees of a program (its public code's "per store" features, as [B] section IV uses
// them): a row of 164 numbers for each innermost statement, whose costs are added up. 57 numbers say what is
// computed and in which loops, 18 each what is done with five buffers, ten how many operations there are for
// a byte as ever more loops are taken in, four where the result lies, and three what is outside.
#pragma once

#include <string>
#include <vector>

#include "loop/loop.h"

namespace lathe {

// The names of a row's numbers, in their order.
const std::vector<std::string>& statement_row_names();

// One row for each block of the program's main part, in its order. Counts are log2(1 + x), ratios as they
// are.
std::vector<std::vector<float>> statement_rows(const Program& program);

}  // namespace lathe
