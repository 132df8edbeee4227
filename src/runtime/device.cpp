#include "runtime/device.h"

#include "runtime/opencl/opencl_instance.h"

namespace lathe {

Result<std::unique_ptr<DeviceInstance>> open_on_device(const Module& module) {
  switch (module.form) {
    case ModuleForm::opencl: return open_opencl(module);
    case ModuleForm::object: break;
  }
  return fail(ErrorKind::unsupported, "machine code of a processor runs on no device");
}

}  // namespace lathe
