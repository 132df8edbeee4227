#include "runtime/opencl/opencl_instance.h"

#include <fmt/format.h>

#include <chrono>
#include <vector>

#include "target/gpu/opencl_library.h"

namespace lathe {
namespace {

constexpr size_t kSlack = 64;  // bytes behind each buffer that nobody may write to
constexpr std::byte kUntouched{0xA5};
constexpr std::byte kNan{0xFF};
constexpr uint32_t kBuildLog = 0x1183;

Status done(int32_t status, const char* function, ErrorKind kind = ErrorKind::crash) {
  if (status == 0) return {};
  return fail(kind, fmt::format("{} of OpenCL failed with status {}", function, status));
}

// What the device holds of one kernel.
struct BuiltKernel {
  OpenClHandle handle = nullptr;
  size_t items = 1;
  size_t group = 1;
};

class OpenClInstance final : public DeviceInstance {
 public:
  OpenClInstance(const OpenClLibrary& opencl, OpenClHandle device) : opencl_(opencl), device_(device) {}
  ~OpenClInstance() override;

  Status open(const Module& module);
  Status write(size_t index, std::span<const std::byte> bytes) override;
  Status read(size_t index, std::span<std::byte> bytes) override;
  Status prepare() override { return launch_all(prepare_); }
  Result<double> run() override;
  Status check_slack() override;

 private:
  struct Buffer {
    std::string name;
    size_t bytes = 0;
    OpenClHandle handle = nullptr;
  };

  Status build(const std::string& text);
  Status add_buffer(const std::string& name, size_t bytes, std::byte filling);
  Result<BuiltKernel> kernel(const KernelLaunch& launch);
  Status launch_all(const std::vector<BuiltKernel>& kernels);

  const OpenClLibrary& opencl_;
  OpenClHandle device_;
  OpenClHandle context_ = nullptr;
  OpenClHandle queue_ = nullptr;
  OpenClHandle program_ = nullptr;
  std::vector<Buffer> buffers_;  // the module's, the workspace last
  std::vector<BuiltKernel> kernels_;
  std::vector<BuiltKernel> prepare_;
};

OpenClInstance::~OpenClInstance() {
  for (const std::vector<BuiltKernel>* kernels : {&kernels_, &prepare_}) {
    for (const BuiltKernel& kernel : *kernels) opencl_.release_kernel(kernel.handle);
  }
  for (const Buffer& buffer : buffers_) opencl_.release_buffer(buffer.handle);
  if (program_ != nullptr) opencl_.release_program(program_);
  if (queue_ != nullptr) opencl_.release_queue(queue_);
  if (context_ != nullptr) opencl_.release_context(context_);
}

Status OpenClInstance::open(const Module& module) {
  int32_t status = 0;
  context_ = opencl_.create_context(nullptr, 1, &device_, nullptr, nullptr, &status);
  LATHE_TRY_STATUS(done(status, "clCreateContext", ErrorKind::load));
  queue_ = opencl_.create_queue(context_, device_, 0, &status);
  LATHE_TRY_STATUS(done(status, "clCreateCommandQueue", ErrorKind::load));
  LATHE_TRY_STATUS(build(module.object));
  for (const ModuleBuffer& buffer : module.buffers) {
    const bool is_filled_here = buffer.role == BufferRole::output || buffer.role == BufferRole::prepared;
    LATHE_TRY_STATUS(
        add_buffer(buffer.name, static_cast<size_t>(buffer.bytes), is_filled_here ? kNan : std::byte{0}));
  }
  LATHE_TRY_STATUS(add_buffer("the workspace", static_cast<size_t>(module.workspace_bytes), kNan));
  for (const KernelLaunch& launch : module.kernels) {
    LATHE_TRY(const BuiltKernel built, kernel(launch));
    kernels_.push_back(built);
  }
  for (const KernelLaunch& launch : module.prepare_kernels) {
    LATHE_TRY(const BuiltKernel built, kernel(launch));
    prepare_.push_back(built);
  }
  return {};
}

Status OpenClInstance::build(const std::string& text) {
  int32_t status = 0;
  const char* begin = text.c_str();
  const size_t length = text.size();
  program_ = opencl_.create_program(context_, 1, &begin, &length, &status);
  LATHE_TRY_STATUS(done(status, "clCreateProgramWithSource", ErrorKind::load));
  status = opencl_.build_program(program_, 1, &device_, "", nullptr, nullptr);
  if (status == 0) return {};
  size_t bytes = 0;
  std::string log;
  if (opencl_.get_build_info(program_, device_, kBuildLog, 0, nullptr, &bytes) == 0) {
    log.resize(bytes);
    opencl_.get_build_info(program_, device_, kBuildLog, bytes, log.data(), nullptr);
  }
  const std::string first = log.substr(0, log.find('\n')).c_str();
  return fail(ErrorKind::build,
              fmt::format("OpenCL's compiler refuses the program with status {}: {}", status, first));
}

Status OpenClInstance::add_buffer(const std::string& name, size_t bytes, std::byte filling) {
  int32_t status = 0;
  constexpr uint64_t kReadWrite = 1;
  OpenClHandle handle = opencl_.create_buffer(context_, kReadWrite, bytes + kSlack, nullptr, &status);
  LATHE_TRY_STATUS(done(status, fmt::format("clCreateBuffer ({} bytes for {})", bytes, name).c_str()));
  buffers_.push_back({name, bytes, handle});
  std::vector<std::byte> content(bytes + kSlack, filling);
  std::fill(content.end() - kSlack, content.end(), kUntouched);
  return done(opencl_.write_buffer(queue_, handle, 1, 0, content.size(), content.data(), 0, nullptr, nullptr),
              "clEnqueueWriteBuffer");
}

Result<BuiltKernel> OpenClInstance::kernel(const KernelLaunch& launch) {
  int32_t status = 0;
  BuiltKernel built;
  built.group = static_cast<size_t>(launch.threads);
  built.items = static_cast<size_t>(launch.blocks * launch.threads);
  built.handle = opencl_.create_kernel(program_, launch.function.c_str(), &status);
  LATHE_TRY_STATUS(done(status, "clCreateKernel", ErrorKind::load));
  std::vector<size_t> parameters(launch.buffers.begin(), launch.buffers.end());
  if (launch.needs_workspace) parameters.push_back(buffers_.size() - 1);
  for (size_t i = 0; i < parameters.size(); ++i) {
    status = opencl_.set_argument(built.handle, static_cast<uint32_t>(i), sizeof(OpenClHandle),
                                  static_cast<const void*>(&buffers_[parameters[i]].handle));
    if (status == 0) continue;
    opencl_.release_kernel(built.handle);
    return std::unexpected(done(status, "clSetKernelArg", ErrorKind::load).error());
  }
  return built;
}

Status OpenClInstance::launch_all(const std::vector<BuiltKernel>& kernels) {
  for (const BuiltKernel& kernel : kernels) {
    LATHE_TRY_STATUS(done(
        opencl_.launch(queue_, kernel.handle, 1, nullptr, &kernel.items, &kernel.group, 0, nullptr, nullptr),
        "clEnqueueNDRangeKernel"));
  }
  return done(opencl_.finish(queue_), "clFinish");
}

Result<double> OpenClInstance::run() {
  const auto start = std::chrono::steady_clock::now();
  LATHE_TRY_STATUS(launch_all(kernels_));
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

Status OpenClInstance::write(size_t index, std::span<const std::byte> bytes) {
  return done(opencl_.write_buffer(queue_, buffers_[index].handle, 1, 0, bytes.size(), bytes.data(), 0,
                                   nullptr, nullptr),
              "clEnqueueWriteBuffer");
}

Status OpenClInstance::read(size_t index, std::span<std::byte> bytes) {
  return done(opencl_.read_buffer(queue_, buffers_[index].handle, 1, 0, bytes.size(), bytes.data(), 0,
                                  nullptr, nullptr),
              "clEnqueueReadBuffer");
}

Status OpenClInstance::check_slack() {
  for (const Buffer& buffer : buffers_) {
    std::vector<std::byte> slack(kSlack);
    LATHE_TRY_STATUS(done(opencl_.read_buffer(queue_, buffer.handle, 1, buffer.bytes, kSlack, slack.data(), 0,
                                              nullptr, nullptr),
                          "clEnqueueReadBuffer"));
    for (const std::byte byte : slack) {
      if (byte != kUntouched)
        return fail(ErrorKind::wrong_result, fmt::format("{} was written behind its end", buffer.name));
    }
  }
  return {};
}

}  // namespace

Result<std::unique_ptr<DeviceInstance>> open_opencl(const Module& module) {
  const OpenClLibrary* opencl = opencl_library();
  OpenClHandle device = opencl != nullptr ? first_opencl_device(*opencl) : nullptr;
  if (device == nullptr)
    return fail(ErrorKind::unsupported, "this machine has no OpenCL: no libOpenCL.so.1 with a device");
  auto instance = std::make_unique<OpenClInstance>(*opencl, device);
  LATHE_TRY_STATUS(instance->open(module));
  return instance;
}

}  // namespace lathe
