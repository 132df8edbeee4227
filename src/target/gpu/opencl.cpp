#include "target/gpu/opencl.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

namespace lathe {
namespace {

// What OpenCL's headers call cl_platform_id, cl_device_id and so on: Lathe is built without them.
using Handle = void*;
using GetPlatforms = int32_t (*)(uint32_t count, Handle* platforms, uint32_t* found);
using GetDevices = int32_t (*)(Handle platform, uint64_t type, uint32_t count, Handle* devices,
                               uint32_t* found);
using GetDeviceInfo = int32_t (*)(Handle device, uint32_t what, size_t bytes, void* value, size_t* found);

constexpr uint64_t kAnyDevice = 0xFFFFFFFF;
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
Value ask(GetDeviceInfo info, Handle device, DeviceInfo what, Value otherwise) {
  Value value{};
  const bool is_known = info(device, what, sizeof value, &value, nullptr) == 0 && value != Value{};
  return is_known ? value : otherwise;
}

std::string name_of(GetDeviceInfo info, Handle device) {
  size_t bytes = 0;
  if (info(device, device_name, 0, nullptr, &bytes) != 0) return "opencl";
  std::string name(bytes, '\0');
  if (info(device, device_name, bytes, name.data(), nullptr) != 0) return "opencl";
  name.resize(std::strlen(name.c_str()));
  return name;
}

Target described(GetDeviceInfo info, Handle device) {
  Target target = generic_opencl();
  GpuTarget& gpu = target.gpu();
  target.machine = name_of(info, device);
  gpu.compute_units = static_cast<int>(ask<uint32_t>(info, device, compute_units, 1));
  gpu.work_group_size = static_cast<int>(ask<size_t>(info, device, work_group_size, 1));
  const auto width = ask<uint32_t>(info, device, wavefront_width, 1);
  gpu.sub_group_width = static_cast<int>(ask<uint32_t>(info, device, warp_size, width));
  gpu.local_bytes = static_cast<int64_t>(ask<uint64_t>(info, device, local_bytes, 1));
  gpu.global_bytes = static_cast<int64_t>(ask<uint64_t>(info, device, global_bytes, 1));
  gpu.cache_bytes =
      static_cast<int64_t>(ask<uint64_t>(info, device, cache_bytes, static_cast<uint64_t>(gpu.cache_bytes)));
  return target;
}

template <class Function>
Function find(void* library, const char* name) {
  return reinterpret_cast<Function>(dlsym(library, name));
}

}  // namespace

Target generic_opencl() { return {"opencl", "generic", GpuTarget{}}; }

std::optional<Target> detect_opencl() {
  // Never closed: drivers do not survive it.
  void* library = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return std::nullopt;
  const auto platforms = find<GetPlatforms>(library, "clGetPlatformIDs");
  const auto devices = find<GetDevices>(library, "clGetDeviceIDs");
  const auto info = find<GetDeviceInfo>(library, "clGetDeviceInfo");
  if (platforms == nullptr || devices == nullptr || info == nullptr) return std::nullopt;
  Handle platform = nullptr;
  Handle device = nullptr;
  uint32_t found = 0;
  if (platforms(1, &platform, &found) != 0 || found == 0) return std::nullopt;
  if (devices(platform, kAnyDevice, 1, &device, &found) != 0 || found == 0) return std::nullopt;
  return described(info, device);
}

}  // namespace lathe
