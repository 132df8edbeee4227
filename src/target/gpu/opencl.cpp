#include "target/gpu/opencl.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "target/gpu/opencl_library.h"

namespace lathe {
namespace {

enum DeviceInfo : uint32_t {
  compute_units = 0x1002,
  work_group_size = 0x1004,
  cache_bytes = 0x101E,
  global_bytes = 0x101F,
  local_bytes = 0x1023,
  device_name = 0x102B,
  warp_size = 0x4003,        // of an extension by NVIDIA
  wavefront_width = 0x4043,  // of one by AMD
};

// The device's answer; `otherwise` where it has none.
template <class Value>
Value ask(const OpenClLibrary& opencl, OpenClHandle device, DeviceInfo what, Value otherwise) {
  Value value{};
  const bool is_known =
      opencl.get_device_info(device, what, sizeof value, &value, nullptr) == 0 && value != Value{};
  return is_known ? value : otherwise;
}

std::string name_of(const OpenClLibrary& opencl, OpenClHandle device) {
  size_t bytes = 0;
  if (opencl.get_device_info(device, device_name, 0, nullptr, &bytes) != 0) return "opencl";
  std::string name(bytes, '\0');
  if (opencl.get_device_info(device, device_name, bytes, name.data(), nullptr) != 0) return "opencl";
  name.resize(std::strlen(name.c_str()));
  return name;
}

Target described(const OpenClLibrary& opencl, OpenClHandle device) {
  Target target = generic_opencl();
  GpuTarget& gpu = target.gpu();
  target.machine = name_of(opencl, device);
  gpu.compute_units = static_cast<int>(ask<uint32_t>(opencl, device, compute_units, 1));
  gpu.work_group_size = static_cast<int>(ask<size_t>(opencl, device, work_group_size, 1));
  const auto width = ask<uint32_t>(opencl, device, wavefront_width, 1);
  gpu.sub_group_width = static_cast<int>(ask<uint32_t>(opencl, device, warp_size, width));
  gpu.local_bytes = static_cast<int64_t>(ask<uint64_t>(opencl, device, local_bytes, 1));
  gpu.global_bytes = static_cast<int64_t>(ask<uint64_t>(opencl, device, global_bytes, 1));
  gpu.cache_bytes = static_cast<int64_t>(
      ask<uint64_t>(opencl, device, cache_bytes, static_cast<uint64_t>(gpu.cache_bytes)));
  return target;
}

}  // namespace

Target generic_opencl() { return {"opencl", "generic", GpuTarget{}}; }

std::optional<Target> detect_opencl() {
  const OpenClLibrary* opencl = opencl_library();
  OpenClHandle device = opencl != nullptr ? first_opencl_device(*opencl) : nullptr;
  if (device == nullptr) return std::nullopt;
  return described(*opencl, device);
}

}  // namespace lathe
