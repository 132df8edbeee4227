#include "target/gpu/opencl_library.h"

#include <dlfcn.h>

#include <optional>

namespace lathe {
namespace {

constexpr uint64_t kAnyDevice = 0xFFFFFFFF;

template <class Function>
bool find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

std::optional<OpenClLibrary> loaded() {
  // Never closed: drivers do not survive it.
  void* library = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return std::nullopt;
  OpenClLibrary opencl{};
  const bool is_whole = find(library, "clGetPlatformIDs", opencl.get_platforms) &&
                        find(library, "clGetDeviceIDs", opencl.get_devices) &&
                        find(library, "clGetDeviceInfo", opencl.get_device_info) &&
                        find(library, "clCreateContext", opencl.create_context) &&
                        find(library, "clCreateCommandQueue", opencl.create_queue) &&
                        find(library, "clCreateProgramWithSource", opencl.create_program) &&
                        find(library, "clBuildProgram", opencl.build_program) &&
                        find(library, "clGetProgramBuildInfo", opencl.get_build_info) &&
                        find(library, "clCreateKernel", opencl.create_kernel) &&
                        find(library, "clSetKernelArg", opencl.set_argument) &&
                        find(library, "clCreateBuffer", opencl.create_buffer) &&
                        find(library, "clEnqueueWriteBuffer", opencl.write_buffer) &&
                        find(library, "clEnqueueReadBuffer", opencl.read_buffer) &&
                        find(library, "clEnqueueNDRangeKernel", opencl.launch) &&
                        find(library, "clFinish", opencl.finish) &&
                        find(library, "clReleaseMemObject", opencl.release_buffer) &&
                        find(library, "clReleaseKernel", opencl.release_kernel) &&
                        find(library, "clReleaseProgram", opencl.release_program) &&
                        find(library, "clReleaseCommandQueue", opencl.release_queue) &&
                        find(library, "clReleaseContext", opencl.release_context);
  if (!is_whole) return std::nullopt;
  return opencl;
}

}  // namespace

const OpenClLibrary* opencl_library() {
  static const std::optional<OpenClLibrary> library = loaded();
  return library ? &*library : nullptr;
}

OpenClHandle first_opencl_device(const OpenClLibrary& opencl) {
  OpenClHandle platform = nullptr;
  OpenClHandle device = nullptr;
  uint32_t found = 0;
  if (opencl.get_platforms(1, &platform, &found) != 0 || found == 0) return nullptr;
  if (opencl.get_devices(platform, kAnyDevice, 1, &device, &found) != 0 || found == 0) return nullptr;
  return device;
}

}  // namespace lathe
