#include "runtime/device.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "runtime/opencl/opencl_instance.h"

namespace lathe {
namespace {

// The table of devices: by the form of the modules that each takes. A new one is a row here and its files.
struct DeviceRow {
  std::string_view form;
  Result<std::unique_ptr<DeviceInstance>> (*open)(const Module& module);
};
constexpr DeviceRow kDevices[] = {
    {"opencl", open_opencl},
};

}  // namespace

Result<std::unique_ptr<DeviceInstance>> open_on_device(const Module& module) {
  const auto* row = std::ranges::find(kDevices, module.form, &DeviceRow::form);
  if (row != std::end(kDevices)) return row->open(module);
  return fail(ErrorKind::unsupported, fmt::format("no device runs modules of the form '{}'", module.form));
}

}  // namespace lathe
