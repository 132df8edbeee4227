#include "features/features.h"

#include <algorithm>
#include <cmath>

#include "features/block_summary.h"
#include "features/named_row.h"

namespace lathe {
namespace {

constexpr size_t kBlocks = 3;
constexpr size_t kAccesses = 4;

// What the numbers of a device relate to.
struct Yardsticks {
  double registers = 1;  // for accumulators and operands: vectors of a core, elements of a thread
  double latency = 1;    // multiply-adds that must be under way
  int64_t l1_bytes = 0;
  int64_t l2_bytes = 0;
  int64_t l3_bytes = 0;
};

// A thread of a GPU has some hundred registers, half of which are left for this.
constexpr double kThreadRegisters = 64;

Yardsticks yardsticks_of(const Target& target) {
  if (const auto* gpu = std::get_if<GpuTarget>(&target.kind))
    return {kThreadRegisters, 1, gpu->local_bytes, gpu->cache_bytes, gpu->cache_bytes};
  const CpuTarget& cpu = target.cpu();
  return {static_cast<double>(cpu.vector_registers),
          static_cast<double>(cpu.fma_latency_cycles * cpu.fma_per_cycle), cpu.l1.bytes, cpu.l2.bytes,
          cpu.l3.bytes};
}

// Bytes that cross into a cache of the given size: the largest group of inner loops whose data fits is loaded
// once for each of its runs.
double traffic_into(const BlockSummary& block, int64_t cache_bytes) {
  size_t fits = block.levels.size();
  for (size_t level = block.levels.size() + 1; level-- > 0;) {
    int64_t footprint = 0;
    for (const AccessSummary& access : block.accesses)
      footprint += access.in_registers ? 0 : access.footprint[level];
    if (footprint > cache_bytes) break;
    fits = level;
  }
  double bytes = 0;
  for (const AccessSummary& access : block.accesses) {
    if (access.in_registers) continue;
    // Loops outside that do not move this access find its data still there if nothing else displaced it.
    double runs = 1;
    for (size_t i = 0; i < fits; ++i) {
      const bool moves = access.footprint[i] != access.footprint[i + 1];
      const bool small = access.footprint[i] * 4 <= cache_bytes;
      if (moves || !small) runs *= static_cast<double>(block.levels[i].extent);
    }
    bytes += runs * static_cast<double>(access.footprint[fits]) * (access.writes ? 2 : 1);
  }
  return bytes;
}

double product_of(const BlockSummary& block, LoopKind kind) {
  double product = 1;
  for (const LoopLevel& loop : block.levels)
    product *= loop.kind == kind ? static_cast<double>(loop.extent) : 1.0;
  return product;
}

// The innermost run of unrolled and vector loops: how many accumulators, and how many loads feed them.
void add_tile(NamedRow& row, const BlockSummary& block, const Yardsticks& device) {
  const double lanes = product_of(block, LoopKind::vectorized);
  const double unrolled = product_of(block, LoopKind::unrolled);
  row.add_log("vector_lanes", lanes);
  row.add_log("unrolled", unrolled);
  double vector_loads = 0;
  double broadcasts = 0;
  double accumulators = 0;
  double scattered = 0;
  for (const AccessSummary& access : block.accesses) {
    double distinct = 1;
    for (size_t i = 0; i < block.levels.size(); ++i) {
      const bool moves = access.footprint[i] != access.footprint[i + 1];
      if (block.levels[i].kind == LoopKind::unrolled && moves)
        distinct *= static_cast<double>(block.levels[i].extent);
    }
    if (access.in_registers) {
      accumulators += access.writes ? distinct : 0;
    } else if (access.vector_stride == 0) {
      broadcasts += distinct;
    } else if (access.vector_stride == 1) {
      vector_loads += distinct;
    } else {
      scattered += distinct * lanes;
    }
  }
  row.add_log("accumulators", accumulators);
  row.add_log("vector_loads", vector_loads);
  row.add_log("broadcasts", broadcasts);
  row.add_log("scattered_elements", scattered);
  row.add("loads_per_step",
          static_cast<float>((vector_loads + broadcasts + scattered) / std::max(1.0, unrolled)));
  row.add("register_share", static_cast<float>((accumulators + vector_loads + 1) / device.registers));
  row.add("latency_hidden", static_cast<float>(std::min(1.0, std::max(accumulators, 1.0) / device.latency)));
}

void add_loops(NamedRow& row, const BlockSummary& block) {
  row.add_log("instances", block.instances);
  row.add("useful_share", static_cast<float>(block.useful / block.instances));
  row.add_log("operations", block.instances * block.operations);
  row.add_log("parallel", product_of(block, LoopKind::parallel));
  double inner_reduce = 1;
  double reduce = 1;
  double innermost_serial = 1;
  for (size_t i = block.levels.size(); i-- > 0;) {
    const LoopLevel& loop = block.levels[i];
    if (loop.reduces) reduce *= static_cast<double>(loop.extent);
    if (loop.kind == LoopKind::serial && innermost_serial <= 1)
      innermost_serial = static_cast<double>(loop.extent);
  }
  for (size_t i = block.levels.size(); i-- > 0;) {
    const LoopLevel& loop = block.levels[i];
    if (loop.kind != LoopKind::serial) continue;
    if (!loop.reduces) break;
    inner_reduce *= static_cast<double>(loop.extent);
  }
  row.add_log("reduce", reduce);
  row.add_log("inner_reduce", inner_reduce);
  row.add_log("innermost_serial", innermost_serial);
  row.add("depth", static_cast<float>(block.levels.size()));
}

void add_memory(NamedRow& row, const BlockSummary& block, const Yardsticks& device) {
  const double operations = std::max(1.0, block.instances * std::max(0.25, block.operations));
  const double l1 = traffic_into(block, device.l1_bytes / 2);
  const double l2 = traffic_into(block, device.l2_bytes / 2);
  const double l3 = traffic_into(block, device.l3_bytes / 2);
  row.add_log("l1_traffic", l1);
  row.add_log("l2_traffic", l2);
  row.add_log("l3_traffic", l3);
  row.add("l1_bytes_per_operation", static_cast<float>(std::min(16.0, l1 / operations)));
  row.add("l2_bytes_per_operation", static_cast<float>(std::min(16.0, l2 / operations)));
  row.add("l3_bytes_per_operation", static_cast<float>(std::min(16.0, l3 / operations)));
}

void add_accesses(NamedRow& row, const BlockSummary& block) {
  static const std::vector<std::vector<std::string>> names = [] {
    std::vector<std::vector<std::string>> list;
    for (size_t i = 0; i < kAccesses; ++i) {
      const std::string prefix = "access" + std::to_string(i) + ".";
      list.push_back({prefix + "vector_stride", prefix + "inner_stride", prefix + "bytes",
                      prefix + "inner_bytes", prefix + "registers"});
    }
    return list;
  }();
  static const AccessSummary none;
  for (size_t i = 0; i < kAccesses; ++i) {
    const bool present = i < block.accesses.size();
    const AccessSummary& access = present ? block.accesses[i] : none;
    const auto stride = [](int64_t value) {
      return value < 0 ? -1.0F : log_of_one_more(static_cast<double>(value));
    };
    row.add(names[i][0].c_str(), stride(access.vector_stride));
    row.add(names[i][1].c_str(), stride(access.inner_stride));
    row.add_log(names[i][2].c_str(), present ? static_cast<double>(access.footprint.front()) : 0);
    const size_t middle = block.levels.size() / 2;
    row.add_log(names[i][3].c_str(), present ? static_cast<double>(access.footprint[middle]) : 0);
    row.add(names[i][4].c_str(), access.in_registers ? 1.0F : 0.0F);
  }
}

std::vector<float> build_row(const std::vector<BlockSummary>& sorted, const Yardsticks& device,
                             std::vector<std::string>* names) {
  NamedRow row(names);
  static const BlockSummary none;
  for (size_t i = 0; i < kBlocks; ++i) {
    const BlockSummary& block = i < sorted.size() ? sorted[i] : none;
    row.prefix("block" + std::to_string(i) + ".");
    add_loops(row, block);
    add_tile(row, block, device);
    add_memory(row, block, device);
    add_accesses(row, block);
  }
  row.prefix("total.");
  double operations = 0;
  double traffic = 0;
  for (const BlockSummary& block : sorted) {
    operations += block.instances * block.operations;
    traffic += traffic_into(block, device.l2_bytes / 2);
  }
  row.add("blocks", static_cast<float>(sorted.size()));
  row.add_log("operations", operations);
  row.add_log("l2_traffic", traffic);
  return row.take();
}

}  // namespace

const std::vector<std::string>& feature_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> list;
    build_row({}, Yardsticks{}, &list);
    return list;
  }();
  return names;
}

Features extract_features(const Program& program, const Target& target) {
  std::vector<BlockSummary> blocks = summarise_blocks(program);
  std::ranges::stable_sort(blocks, std::greater<>(), &BlockSummary::work);
  return {build_row(blocks, yardsticks_of(target), nullptr)};
}

}  // namespace lathe
