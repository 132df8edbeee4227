// Devices that are reached through OpenCL, whatever they are.
#pragma once

#include <optional>

#include "target/target.h"

namespace lathe {

Target generic_opencl();

// The first device of the first platform of OpenCL on this machine; nothing where there is none. Loads
// libOpenCL.so.1 and with it the drivers, which may take a second and start threads of their own.
std::optional<Target> detect_opencl();

}  // namespace lathe
