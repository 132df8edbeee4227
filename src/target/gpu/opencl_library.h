// The functions of OpenCL 1.2 that Lathe calls, found in libOpenCL.so.1 when first asked for: Lathe is built
// without OpenCL's headers and runs without the library.
#pragma once

#include <cstddef>
#include <cstdint>

namespace lathe {

// What the headers call cl_platform_id, cl_context, cl_mem and so on.
using OpenClHandle = void*;

struct OpenClLibrary {
  using Notify = void (*)();

  int32_t (*get_platforms)(uint32_t count, OpenClHandle* platforms, uint32_t* found);
  int32_t (*get_devices)(OpenClHandle platform, uint64_t type, uint32_t count, OpenClHandle* devices,
                         uint32_t* found);
  int32_t (*get_device_info)(OpenClHandle device, uint32_t what, size_t bytes, void* value, size_t* found);
  OpenClHandle (*create_context)(const intptr_t* properties, uint32_t count, const OpenClHandle* devices,
                                 Notify notify, void* data, int32_t* status);
  OpenClHandle (*create_queue)(OpenClHandle context, OpenClHandle device, uint64_t properties,
                               int32_t* status);
  OpenClHandle (*create_program)(OpenClHandle context, uint32_t count, const char** texts,
                                 const size_t* lengths, int32_t* status);
  int32_t (*build_program)(OpenClHandle program, uint32_t count, const OpenClHandle* devices,
                           const char* options, Notify notify, void* data);
  int32_t (*get_build_info)(OpenClHandle program, OpenClHandle device, uint32_t what, size_t bytes,
                            void* value, size_t* found);
  OpenClHandle (*create_kernel)(OpenClHandle program, const char* name, int32_t* status);
  int32_t (*set_argument)(OpenClHandle kernel, uint32_t place, size_t bytes, const void* value);
  OpenClHandle (*create_buffer)(OpenClHandle context, uint64_t flags, size_t bytes, void* host,
                                int32_t* status);
  int32_t (*write_buffer)(OpenClHandle queue, OpenClHandle buffer, uint32_t blocks, size_t offset,
                          size_t bytes, const void* from, uint32_t count, const OpenClHandle* waits,
                          OpenClHandle* event);
  int32_t (*read_buffer)(OpenClHandle queue, OpenClHandle buffer, uint32_t blocks, size_t offset,
                         size_t bytes, void* to, uint32_t count, const OpenClHandle* waits,
                         OpenClHandle* event);
  int32_t (*launch)(OpenClHandle queue, OpenClHandle kernel, uint32_t dimensions, const size_t* offsets,
                    const size_t* items, const size_t* group, uint32_t count, const OpenClHandle* waits,
                    OpenClHandle* event);
  int32_t (*finish)(OpenClHandle queue);
  int32_t (*release_buffer)(OpenClHandle buffer);
  int32_t (*release_kernel)(OpenClHandle kernel);
  int32_t (*release_program)(OpenClHandle program);
  int32_t (*release_queue)(OpenClHandle queue);
  int32_t (*release_context)(OpenClHandle context);
};

// Null where there is none, or one that lacks a function. Loads drivers when first called, which may take a
// second and start threads. Thread-safe.
const OpenClLibrary* opencl_library();

// The first device of the first platform; null where there is none.
OpenClHandle first_opencl_device(const OpenClLibrary& opencl);

}  // namespace lathe
