#include "space/ansor/loop_writer.h"

#include <algorithm>
#include <limits>

#include "space/program_length.h"
#include "space/rules/vectors.h"

namespace lathe {
namespace {

constexpr int64_t kMostStatements = 96;  // of a tile in registers
constexpr size_t kNoLoop = std::numeric_limits<size_t>::max();
constexpr int64_t kFreeRegisters = 2;  // for the operands of a multiply-add

class LoopWriter {
 public:
  LoopWriter(Writer& writer, NodeLoops& loops, const LoopWork& work)
      : writer_(writer), loops_(loops), work_(work) {}

  Status write();

 private:
  const std::string& name_of(size_t loop) const { return loops_.loops[loop].name; }
  // Vectors of the machine in one of the loop's.
  int64_t vectors_of(const NodeLoop& loop) const {
    return loop.level == kLanes ? ceil_div(loop.extent, work_.stage.lanes) : loop.extent;
  }
  void share();
  void mark_unrolled();
  bool fits_registers() const;
  std::optional<size_t> loop_of_tile() const;
  std::optional<size_t> loop_of_taker() const;
  void write_taker(size_t loop, bool in_registers);
  void write_results();
  void write_box(const std::string& block, size_t loop, bool unrolls, const Compute* names = nullptr);

  Writer& writer_;
  NodeLoops& loops_;
  const LoopWork& work_;
  std::vector<bool> unrolled_ = {};
};

// Leading loops become one, which stays around what is computed in them.
void LoopWriter::share() {
  const int64_t wanted = work_.pieces * writer_.task.target.cpu().cores;
  const std::optional<size_t> last = loops_.last_up_to(kMiddle);
  if (wanted == 0 || !last) return;
  size_t most = *last + 1;
  for (const size_t loop : work_.held) most = std::min(most, loop + 1);
  if (const auto taker = loop_of_taker()) most = std::min(most, *taker + 1);
  std::vector<std::string> shared;
  int64_t iterations = 1;
  while (shared.size() < most && iterations <= wanted) {
    iterations *= loops_.loops[shared.size()].extent;
    shared.push_back(name_of(shared.size()));
  }
  if (iterations < 2) return;
  std::string fused = shared.front();
  for (size_t i = 1; i < shared.size(); ++i) fused += "_" + shared[i];
  if (shared.size() > 1) writer_.add(FuseStep{loops_.block, shared});
  writer_.add(AnnotateStep{loops_.block, fused, LoopKind::parallel});
  for (size_t i = 0; i < shared.size(); ++i) loops_.loops[i].name = fused;
}

// From inside, while the product of the extents stays within what was chosen; loops of lanes are one
// statement.
void LoopWriter::mark_unrolled() {
  unrolled_.assign(loops_.loops.size(), false);
  int64_t product = 1;
  for (size_t i = loops_.loops.size(); i-- > 0;) {
    const NodeLoop& loop = loops_.loops[i];
    if (loop.level == kLanes) continue;
    if (loop.level < kOuterReduce || std::ranges::any_of(work_.held, [&](size_t held) { return i <= held; }))
      return;
    const bool is_asked = work_.unrolls_innermost && loop.level == kInnermost;
    if (!is_asked && product * loop.extent > work_.unroll) return;
    product *= loop.extent;
    unrolled_[i] = true;
  }
}

bool LoopWriter::fits_registers() const {
  int64_t results = 1;
  int64_t statements = 1;
  for (size_t i = 0; i < loops_.loops.size(); ++i) {
    const NodeLoop& loop = loops_.loops[i];
    if (loop.level < kInnermost) continue;
    if (loop.level == kInnermost && loop.extent > 1 && !unrolled_[i]) return false;
    statements *= vectors_of(loop);
    if (!loop.reduces) results *= vectors_of(loop);
  }
  return statements <= kMostStatements &&
         results <= writer_.task.target.cpu().vector_registers - kFreeRegisters;
}

// The innermost loop around the tile that is computed term by term: outside of all sums where that is one.
std::optional<size_t> LoopWriter::loop_of_tile() const {
  return loops_.last_up_to(loops_.has_level(kInner) ? kInner : kMiddle);
}

std::optional<size_t> LoopWriter::loop_of_taker() const {
  if (work_.level == 0) return std::nullopt;
  return loops_.last_up_to(work_.level == 1 ? kOuter : kMiddle);
}

// Goes through what an iteration of the loop writes, in vectors along the axis of the lanes, or else the
// last: loops named as the block's axes, or as those of the compute `names`.
void LoopWriter::write_box(const std::string& block, size_t loop, bool unrolls, const Compute* names) {
  const auto lanes = std::ranges::find(loops_.loops, kLanes, &NodeLoop::level);
  std::vector<UncutLoop> uncut;
  std::optional<size_t> vector;
  for (const UncutLoop& axis : loops_.spatial) {
    if (lanes == loops_.loops.end() || lanes->axis == axis.axis) vector = uncut.size();
    const std::string& name = names == nullptr ? axis.name : names->axes[axis.axis].var.name();
    uncut.push_back({.name = name, .extent = loops_.extent_inside(loop, axis.axis), .axis = axis.axis});
  }
  const NodeLoops box = cut(block, uncut, vector, work_.stage.lanes);
  std::ranges::copy(box.splits, std::back_inserter(writer_.trace));
  if (box.loops.size() > 1) writer_.add(ReorderStep{block, box.names()});
  for (const NodeLoop& inner : box.loops) {
    if (inner.level == kLanes)
      writer_.add(AnnotateStep{block, inner.name, LoopKind::vectorized});
    else if (unrolls && inner.extent > 1)
      writer_.add(AnnotateStep{block, inner.name, LoopKind::unrolled});
  }
}

void LoopWriter::write_taker(size_t loop, bool in_registers) {
  const Scope scope = in_registers ? Scope::registers : Scope::thread;
  if (work_.taker != nullptr) {
    const std::string& taker = work_.taker->output->name;
    writer_.add(ReverseComputeAtStep{taker, loops_.block, name_of(loop), scope});
    return write_box(taker, loop, in_registers, work_.taker);
  }
  const std::string copy = loops_.block + ".local";
  writer_.add(CacheWriteStep{loops_.block, copy, name_of(loop), scope});
  const bool is_plain = work_.layout == Layout::row_major(work_.layout.dims.size());
  if (!in_registers && !is_plain) writer_.add(LayoutStep{copy, work_.layout});
  write_box(copy + ".out", loop, in_registers);
}

void LoopWriter::write_results() {
  const size_t tile = loop_of_tile().value_or(kNoLoop);
  const size_t taker = loop_of_taker().value_or(kNoLoop);
  const bool in_registers = work_.reduces && tile != kNoLoop && fits_registers();
  if (taker != kNoLoop) write_taker(taker, in_registers && taker == tile);
  if (!in_registers || taker == tile) return;
  const std::string copy = loops_.block + ".acc";
  writer_.add(CacheWriteStep{loops_.block, copy, name_of(tile), Scope::registers});
  write_box(copy + ".out", tile, true);
  const auto end = loops_.loops.begin() + static_cast<std::ptrdiff_t>(tile) + 1;
  if (std::any_of(loops_.loops.begin(), end, [](const NodeLoop& loop) { return loop.reduces; }))
    write_box(copy + ".in", tile, true);
}

Status LoopWriter::write() {
  std::ranges::copy(loops_.splits, std::back_inserter(writer_.trace));
  if (loops_.loops.size() > 1) writer_.add(ReorderStep{loops_.block, loops_.names()});
  share();
  mark_unrolled();
  write_results();
  int64_t statements = 1;
  for (size_t i = 0; i < loops_.loops.size(); ++i) {
    const NodeLoop& loop = loops_.loops[i];
    const bool is_unrolled = unrolled_[i] && loop.extent > 1;
    if (is_unrolled || loop.level == kLanes) statements *= vectors_of(loop);
    if (is_unrolled) writer_.add(AnnotateStep{loops_.block, loop.name, LoopKind::unrolled});
    if (loop.level == kLanes) writer_.add(AnnotateStep{loops_.block, loop.name, LoopKind::vectorized});
  }
  return check_length(loops_.block, statements);
}

}  // namespace

Status write_node_loops(Writer& writer, NodeLoops& loops, const LoopWork& work) {
  return LoopWriter(writer, loops, work).write();
}

}  // namespace lathe
