// All of Lathe's public face in C++. Functions never print, never exit and never read the environment; what a
// user's input can cause comes back as a value (result.h).
#pragma once

#include <string>

#include "lathe/artifact.h"
#include "lathe/network.h"
#include "lathe/operator.h"
#include "lathe/result.h"
#include "lathe/search.h"
#include "lathe/target.h"
#include "lathe/tune.h"

namespace lathe {

// "0.3.0".
std::string version();

}  // namespace lathe
