#include "explain/stage_bounds.h"

#include <algorithm>

#include "features/block_summary.h"

namespace lathe {
namespace {

// Bytes that a block's loops fetch from beyond a cache of `capacity` bytes: none where all that they touch
// fits, for it is still there when the program runs again.
double bytes_beyond(const BlockSummary& summary, int64_t capacity) {
  const size_t innermost = summary.levels.size();
  size_t fitting = innermost;  // the outermost level whose data fit
  while (fitting > 0) {
    int64_t footprint = 0;
    for (const AccessSummary& access : summary.accesses) {
      if (!access.in_registers) footprint += access.footprint[fitting - 1];
    }
    if (footprint > capacity) break;
    --fitting;
  }
  if (fitting == 0) return 0;
  double bytes = 0;
  for (const AccessSummary& access : summary.accesses) {
    if (access.in_registers) continue;
    double fetches = summary.iterations(0, fitting);
    // What the first loop that overflows does not move stays where it is.
    const bool stays = access.footprint[fitting - 1] == access.footprint[fitting];
    if (stays) fetches /= static_cast<double>(summary.levels[fitting - 1].extent);
    bytes += fetches * static_cast<double>(access.footprint[fitting]);
  }
  return bytes;
}

// Bytes that a block fetches of the tensors `cold`, which are in no cache before; takes out what it touches.
// A later block that touches another part counts nothing: which part it is nobody knows, and this is a bound
// from below.
double cold_bytes(const BlockSummary& summary, std::vector<const TensorNode*>& cold) {
  int64_t bytes = 0;
  std::erase_if(cold, [&](const TensorNode* tensor) {
    int64_t touched = 0;  // a tensor may be read at several places
    for (const AccessSummary& access : summary.accesses) {
      if (access.tensor == tensor) touched = std::max(touched, access.footprint.front());
    }
    bytes += touched;
    return touched > 0;
  });
  return static_cast<double>(bytes);
}

// Those of a program that runs cold.
std::vector<const TensorNode*> cold_tensors(const Program& program) {
  std::vector<const TensorNode*> tensors;
  for (const Argument& argument : program.arguments) {
    if (argument.is_constant || argument.is_output) tensors.push_back(argument.tensor.get());
  }
  for (const Prepared& prepared : program.prepared) tensors.push_back(prepared.tensor.get());
  return tensors;
}

StageBound bound_of(const BlockSummary& summary, const CpuTarget& target, const Roofline& roofline,
                    double bytes_in_no_cache) {
  StageBound bound;
  bound.block = summary.block->name;
  bound.operations = summary.operations * summary.useful;
  bound.seconds = bound.operations / roofline.gflops * 1e-9;
  const std::array<int64_t, 3> capacities = {target.l1.bytes, target.l2.bytes, target.l3.bytes};
  for (size_t level = 0; level < capacities.size(); ++level) {
    bound.bytes[level] = std::max(bytes_beyond(summary, capacities[level]), bytes_in_no_cache);
    const double seconds = bound.bytes[level] / roofline.gigabytes[level] * 1e-9;
    if (seconds <= bound.seconds) continue;
    bound.seconds = seconds;
    bound.limit = static_cast<Bottleneck>(level + 1);
  }
  return bound;
}

}  // namespace

const char* to_string(Bottleneck limit) {
  switch (limit) {
    case Bottleneck::units: return "units";
    case Bottleneck::second_level: return "second level";
    case Bottleneck::third_level: return "third level";
    case Bottleneck::memory: return "memory";
  }
  return "";
}

std::vector<StageBound> stage_bounds(const Program& program, const Target& target, const Roofline& roofline,
                                     bool runs_cold) {
  std::vector<const TensorNode*> cold;
  if (runs_cold) cold = cold_tensors(program);
  std::vector<StageBound> bounds;
  for (const BlockSummary& summary : summarise_blocks(program)) {
    bounds.push_back(bound_of(summary, target.cpu(), roofline, cold_bytes(summary, cold)));
  }
  return bounds;
}

}  // namespace lathe
