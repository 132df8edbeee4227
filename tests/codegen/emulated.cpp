#include "codegen/emulated.h"

#include <fmt/format.h>

#include <cstring>
#include <fstream>

#include "base/read_file.h"
#include "base/shell.h"
#include "base/temporary_folder.h"

namespace lathe::testing {
namespace {

// What stands around the entries: buffers with bytes before and behind that nobody may write, from stdin and
// to stdout.
constexpr const char* kDriver = R"(
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { slack = 4096 };
static char* allocate(long bytes) {
  char* all = aligned_alloc(64, (2 * slack + bytes + 63) / 64 * 64);
  memset(all, 0x5a, slack);
  memset(all + slack, 0xff, bytes);
  memset(all + slack + bytes, 0x5a, slack);
  return all + slack;
}
static int is_whole(const char* data, long bytes) {
  for (int i = 0; i < slack; ++i)
    if (data[-1 - i] != 0x5a || data[bytes + i] != 0x5a) return 0;
  return 1;
}
int main(void) {
  void* buffers[count];
  for (int i = 0; i < count; ++i) {
    buffers[i] = allocate(bytes[i]);
    if (is_input[i] && fread(buffers[i], 1, bytes[i], stdin) != (size_t)bytes[i]) return 2;
  }
  char* workspace = allocate(workspace_bytes);
  if (PREPARE(buffers, 0, workspace, 0) != 0) return 3;
  memset(workspace, 0xff, workspace_bytes);
  if (KERNEL(buffers, 0, workspace, 0) != 0) return 4;
  for (int i = 0; i < count; ++i) {
    if (!is_whole(buffers[i], bytes[i])) return 5;
    if (is_output[i]) fwrite(buffers[i], 1, bytes[i], stdout);
  }
  return is_whole(workspace, workspace_bytes) ? 0 : 5;
}
)";

std::string driver_of(const Module& module, size_t arguments) {
  std::string bytes, inputs, outputs;
  for (size_t i = 0; i < module.buffers.size(); ++i) {
    const ModuleBuffer& buffer = module.buffers[i];
    bytes += fmt::format("{}, ", buffer.bytes);
    inputs += fmt::format("{}, ", i < arguments && buffer.role != BufferRole::output ? 1 : 0);
    outputs += fmt::format("{}, ", buffer.role == BufferRole::output ? 1 : 0);
  }
  constexpr const char* kEntry = "int {}(void* const*, const long*, void*, const void*);\n";
  std::string text = fmt::format(
      "enum {{ count = {} }};\nstatic const long bytes[] = {{{}}};\n"
      "static const int is_input[] = {{{}}};\nstatic const int is_output[] = {{{}}};\n"
      "static const long workspace_bytes = {};\n",
      module.buffers.size(), bytes, inputs, outputs, module.workspace_bytes);
  text += fmt::format(fmt::runtime(kEntry), module.kernel_symbol) + "#define KERNEL " + module.kernel_symbol +
          "\n";
  if (module.prepare_symbol.empty()) {
    text += "#define PREPARE(buffers, sizes, workspace, pool) 0\n";
  } else {
    text += fmt::format(fmt::runtime(kEntry), module.prepare_symbol) + "#define PREPARE " +
            module.prepare_symbol + "\n";
  }
  return text + kDriver;
}

void write(const std::string& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

}  // namespace

Result<std::vector<HostTensor>> run_emulated(const LoweredProgram& lowered, Backend backend,
                                             const Target& target, const Emulation& emulation,
                                             std::span<const HostTensor> inputs) {
  LATHE_TRY(const Module module, build_for(lowered, backend, target, emulation.compiler));
  const TemporaryFolder folder;
  const std::string base = folder.path().string() + "/";
  const std::span<const Argument> arguments = lowered.program.arguments;
  std::string in;
  size_t next = 0;
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i].is_output) continue;
    std::string bytes(static_cast<size_t>(module.buffers[i].bytes), '\0');
    copy_in(inputs[next++], arguments[i].layout, std::as_writable_bytes(std::span(bytes)));
    in += bytes;
  }
  write(base + "in", in);
  write(base + "kernel.o", module.object);
  write(base + "driver.c", driver_of(module, arguments.size()));
  const std::string link =
      fmt::format("{0} -O1 -w -static {1}driver.c {1}kernel.o -o {1}run", emulation.compiler, base);
  if (run_in_shell(link) != 0) return fail(ErrorKind::build, "it cannot be linked: " + link);
  const int status = run_in_shell(fmt::format("{0} {1}run < {1}in > {1}out", emulation.emulator, base));
  if (status == 5) return fail(ErrorKind::crash, "it wrote outside of its buffers");
  if (status != 0) return fail(ErrorKind::crash, fmt::format("it ended with status {}", status));
  LATHE_TRY(const std::string out, lathe::read_file(base + "out"));
  std::vector<HostTensor> outputs;
  size_t at = 0;
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (!arguments[i].is_output) continue;
    const auto bytes = static_cast<size_t>(module.buffers[i].bytes);
    outputs.push_back(
        copy_out(arguments[i].tensor, arguments[i].layout, std::as_bytes(std::span(out)).subspan(at, bytes)));
    at += bytes;
  }
  return outputs;
}

}  // namespace lathe::testing
