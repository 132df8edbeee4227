// A module of OpenCL C on the first device of OpenCL.
#pragma once

#include "runtime/device.h"

namespace lathe {

// An unsupported error where this machine has no device of OpenCL.
Result<std::unique_ptr<DeviceInstance>> open_opencl(const Module& module);

}  // namespace lathe
