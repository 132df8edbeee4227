// A module on a device that has memory of its own: buffers that a caller writes and reads, prepare, run.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "base/result.h"
#include "module/module.h"

namespace lathe {

// Not thread-safe. An Error (load, crash) names the function of the device's interface that failed.
class DeviceInstance {
 public:
  DeviceInstance() = default;
  DeviceInstance(const DeviceInstance&) = delete;
  DeviceInstance& operator=(const DeviceInstance&) = delete;
  virtual ~DeviceInstance() = default;

  // `index`: of the module's buffers; as many bytes as that has.
  virtual Status write(size_t index, std::span<const std::byte> bytes) = 0;
  virtual Status read(size_t index, std::span<std::byte> bytes) = 0;
  // Fills the prepared buffers from the constants.
  virtual Status prepare() = 0;
  // Runs the kernels once, to their end; gives the seconds that it took.
  virtual Result<double> run() = 0;
  // An Error names the first buffer that was written behind its end.
  virtual Status check_slack() = 0;
};

// The module on the first device of this machine that takes its form; outputs and prepared buffers are full
// of NaN, all others zero. An Error: there is none, it is too small for the module, or its compiler refuses
// it.
Result<std::unique_ptr<DeviceInstance>> open_on_device(const Module& module);

}  // namespace lathe
