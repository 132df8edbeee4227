#include "kernel_hashes.h"

#include "base/hash.h"
#include "base/rng.h"
#include "compile/compile.h"
#include "space/all.h"

namespace lathe {
namespace {

// Of drawn programs: longer ones take LLVM up to seconds and say no more about it.
constexpr int64_t kMostStatements = 4096;
constexpr int kDrawsForAPoint = 50;  // until one is found that may be tried

uint32_t folded(uint64_t hash) { return static_cast<uint32_t>(hash ^ (hash >> 32)); }

uint64_t hash_of(const Module& module) {
  Hasher hasher;
  hasher.add(module.object).add(module.kernel_symbol).add(module.prepare_symbol);
  hasher.add(module.threads).add(module.workspace_bytes);
  for (const ModuleBuffer& buffer : module.buffers)
    hasher.add(buffer.name).add(static_cast<int>(buffer.role)).add(buffer.bytes);
  return hasher.finish();
}

uint64_t hash_of(const Error& error) { return hash_text(error.to_string()); }

// Compiled from its printed form, which is all that a record keeps of it.
KernelHashes hashes_of(const Task& task, const Result<Trace>& written, const CompileOptions& options) {
  if (!written) return {.trace = folded(hash_of(written.error()))};
  const std::string text = to_string(*written);
  const Result<Trace> trace = parse_trace(text);
  if (!trace) return {.trace = folded(hash_of(trace.error()))};
  const Result<Module> module = compile(task, *trace, options);
  const Result<std::string> c_text = emit_text(task, *trace, "c", options);
  return {.trace = folded(hash_text(text)),
          .object = folded(module ? hash_of(*module) : hash_of(module.error())),
          .c_text = folded(c_text ? hash_text(*c_text) : hash_of(c_text.error()))};
}

// One that may be tried, or, where that takes too many draws, the last one drawn.
Point draw(const Space& space, Rng& rng) {
  Point point;
  for (int i = 0; i < kDrawsForAPoint; ++i) {
    point.sketch = static_cast<int>(rng.below(space.sketches().size()));
    point.integers = sample(space.sketches()[static_cast<size_t>(point.sketch)].domain, rng);
    if (space.trace(point)) break;
  }
  return point;
}

}  // namespace

Result<std::vector<KernelHashes>> kernel_hashes(const Task& task) {
  LATHE_TRY(const Space space, derive_space(task));
  const std::vector<Point> preferred = space.preferred_points();
  const Result<Trace> first =
      preferred.empty() ? Result<Trace>(space.naive()) : space.trace(preferred.front());
  std::vector<KernelHashes> hashes = {hashes_of(task, first, {})};
  Rng rng(hash_text(task.name));
  for (int i = 0; i < kDrawnPoints && !space.sketches().empty(); ++i)
    hashes.push_back(hashes_of(task, space.trace(draw(space, rng)), {.max_statements = kMostStatements}));
  return hashes;
}

}  // namespace lathe
