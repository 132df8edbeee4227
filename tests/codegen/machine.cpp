#include "codegen/machine.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <limits>
#include <optional>

#include "base/shell.h"
#include "codegen/c/emit_c.h"
#include "codegen/llvm/emit.h"
#include "runtime/launch.h"
#include "runtime/thread_pool.h"
#include "target/detect.h"

namespace lathe::testing {
namespace {

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// Told to let no warning pass, to inline what <math.h> has as an instruction and to leave loops that move
// elements loops: the loader knows neither libm nor memmove.
constexpr const char* kOptions =
    " -std=c99 -Wall -Wextra -Wno-unused-parameter -Werror -O2 -fno-math-errno "
    "-fno-tree-loop-distribute-patterns -ffp-contract=off -fPIC -fno-stack-protector -c ";
constexpr const char* kHostCompiler = "cc -mavx2 -mfma -fcf-protection=none";

Result<std::string> compile_c99(const std::string& source, const std::string& compiler) {
  char folder[] = "/tmp/lathe-c99-XXXXXX";
  if (mkdtemp(folder) == nullptr) return fail(ErrorKind::io, "no temporary folder");
  const std::string base = std::string(folder) + "/kernel";
  std::ofstream(base + ".c") << source;
  const bool failed = run_in_shell(compiler + kOptions + base + ".c -o " + base + ".o") != 0;
  std::string object = failed ? "" : read_file(base + ".o");
  std::remove((base + ".c").c_str());
  std::remove((base + ".o").c_str());
  rmdir(folder);
  if (failed) return fail(ErrorKind::build, "the C compiler refused:\n" + source);
  return object;
}

int64_t storage_bytes(const Tensor& tensor, const Layout& layout) {
  return physical_elements(layout, tensor->shape) * bytes_of(tensor->dtype);
}

}  // namespace

const char* to_string(Backend backend) { return backend == Backend::llvm ? "llvm" : "c"; }

Result<Module> build(const LoweredProgram& lowered, Backend backend, int threads) {
  LATHE_TRY(Module module, build_for(lowered, backend, detect_target().value(), kHostCompiler));
  module.threads = threads;
  module.workspace_bytes = lowered.memory.shared_bytes + threads * lowered.memory.thread_bytes;
  return module;
}

Result<Module> build_for(const LoweredProgram& lowered, Backend backend, const Target& target,
                         const std::string& compiler) {
  const EntrySymbols symbols = entry_symbols("test");
  Module module;
  if (backend == Backend::llvm) {
    LATHE_TRY(module.object, emit_object(lowered, target, symbols));
  } else {
    LATHE_TRY(const std::string source, emit_c(lowered, symbols));
    LATHE_TRY(module.object, compile_c99(source, compiler));
  }
  module.kernel_symbol = symbols.kernel;
  if (lowered.program.prepare) module.prepare_symbol = symbols.prepare;
  for (const Argument& argument : lowered.program.arguments) {
    const BufferRole role = argument.is_output ? BufferRole::output : BufferRole::input;
    module.buffers.push_back({argument.tensor->name, role, storage_bytes(argument.tensor, argument.layout)});
  }
  for (const Prepared& prepared : lowered.program.prepared) {
    const int64_t bytes = storage_bytes(prepared.tensor, prepared.layout);
    module.buffers.push_back({prepared.tensor->name, BufferRole::prepared, bytes});
  }
  module.workspace_bytes = lowered.memory.shared_bytes + lowered.memory.thread_bytes;
  return module;
}

void copy_in(const HostTensor& values, const Layout& layout, std::span<std::byte> bytes) {
  visit_storage(values.dtype, [&]<class T>(std::type_identity<T>) {
    const std::vector<T> logical(values.values.begin(), values.values.end());
    const auto padding = static_cast<T>(is_float(values.dtype) ? NAN : 0.0);
    const std::vector<T> storage = pack<T>(layout, values.shape, logical, padding);
    std::memcpy(bytes.data(), storage.data(), bytes.size());
  });
}

HostTensor copy_out(const Tensor& tensor, const Layout& layout, std::span<const std::byte> bytes) {
  HostTensor result{tensor->dtype, tensor->shape, {}};
  visit_storage(tensor->dtype, [&]<class T>(std::type_identity<T>) {
    std::vector<T> storage(bytes.size() / sizeof(T));
    std::memcpy(storage.data(), bytes.data(), bytes.size());
    for_each_offset(layout, tensor->shape, [&](int64_t, int64_t offset) {
      result.values.push_back(static_cast<double>(storage[static_cast<size_t>(offset)]));
    });
  });
  return result;
}

Result<std::vector<HostTensor>> run_machine(const LoweredProgram& lowered, Backend backend,
                                            std::span<const HostTensor> inputs, int pool_threads) {
  LATHE_TRY(const Module module, build(lowered, backend, std::max(pool_threads, 1)));
  std::optional<ThreadPool> pool;
  if (pool_threads > 0) pool.emplace(ThreadPool::Options{.threads = pool_threads});
  return run_module(module, lowered.program.arguments, inputs, pool ? pool->parallel() : nullptr);
}

Result<std::vector<HostTensor>> run_module(const Module& module, std::span<const Argument> arguments,
                                           std::span<const HostTensor> inputs, const LatheParallel* pool) {
  LATHE_TRY(Instance instance, Instance::create(module));
  size_t next = 0;
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (!arguments[i].is_output) copy_in(inputs[next++], arguments[i].layout, instance.buffer(i));
  }
  LATHE_TRY_STATUS(instance.prepare(pool));
  LATHE_TRY_STATUS(instance.run(pool));
  LATHE_TRY_STATUS(instance.check_slack());
  std::vector<HostTensor> outputs;
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i].is_output) {
      outputs.push_back(copy_out(arguments[i].tensor, arguments[i].layout, instance.buffer(i)));
    }
  }
  return outputs;
}

}  // namespace lathe::testing
