// Free dimensions that a file calls otherwise in each input, though it cannot be read where they differ:
// exporters name every input's length anew.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "artifact/free_dimensions.h"

namespace lathe {

// Whether the file can be read with these shapes of its inputs.
using IsRead = std::function<bool(const std::map<std::string, Shape>&)>;

// The same with one dimension in the place of those that must agree: of open ones that are the same axis of
// their inputs, have the same bounds and were not named by the user. Which must is found out by changing
// the sizes of some of them, from few to all; one that may be smaller and larger alone stays as it is.
AskedSizes with_joined(const AskedSizes& asked, const IsRead& is_read);

}  // namespace lathe
