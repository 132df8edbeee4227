#include "features/loop_context.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "features/named_row.h"

namespace lathe {
namespace {

struct NamedKind {
  LoopKind kind;
  const char* name;
};
// Blocks and threads of a device count as parallel and vectorized loops (block_summary.h).
constexpr std::array kKinds{NamedKind{LoopKind::serial, "serial"}, NamedKind{LoopKind::unrolled, "unrolled"},
                            NamedKind{LoopKind::vectorized, "vectorized"},
                            NamedKind{LoopKind::parallel, "parallel"},
                            NamedKind{LoopKind::tensorized, "tensorized"}};

int64_t bytes_of_element(const AccessSummary& access) { return access.footprint.back(); }

// The accesses by figure 3's order, those of one buffer and one pattern once.
std::vector<const AccessSummary*> distinct(const BlockSummary& block) {
  std::vector<const AccessSummary*> found;
  for (const AccessSummary& access : block.accesses) {
    const bool known = std::ranges::any_of(found, [&](const AccessSummary* other) {
      return other->tensor == access.tensor && other->strides == access.strides;
    });
    if (!known) found.push_back(&access);
  }
  std::ranges::stable_sort(
      found.begin() + 1, found.end(), std::ranges::greater(),
      [](const AccessSummary* access) { return access->footprint.front() / bytes_of_element(*access); });
  return found;
}

// What the other block does in the loop goes behind what is known of it.
void join(LoopContext& into, const LoopContext& other) {
  into.bottom_up += other.bottom_up;
  for (const BufferTouch& touch : other.touches) {
    const bool known = std::ranges::any_of(into.touches, [&](const BufferTouch& before) {
      return before.tensor == touch.tensor && before.stride == touch.stride &&
             before.touched == touch.touched;
    });
    if (!known) into.touches.push_back(touch);
  }
}

}  // namespace

std::vector<LoopContext> loop_contexts(const BlockSummary& block) {
  const std::vector<const AccessSummary*> accesses = distinct(block);
  std::vector<LoopContext> contexts;
  for (size_t level = 0; level < block.levels.size(); ++level) {
    const LoopLevel& loop = block.levels[level];
    LoopContext context{.var = loop.var,
                        .length = static_cast<double>(loop.extent),
                        .kind = loop.kind,
                        .top_down = block.iterations(0, level),
                        .bottom_up = block.iterations(level, block.levels.size()),
                        .touches = {}};
    for (const AccessSummary* access : accesses) {
      const int64_t elements = access->footprint[level] / bytes_of_element(*access);
      const auto touched = static_cast<double>(elements);
      const auto stride = static_cast<double>(std::max<int64_t>(0, std::abs(access->strides[level])));
      context.touches.push_back({access->tensor, access->writes, touched, context.bottom_up / touched,
                                 access->strides[level] == -1 ? 0 : stride});
    }
    contexts.push_back(std::move(context));
  }
  return contexts;
}

std::vector<LoopContext> loop_contexts(const std::vector<BlockSummary>& blocks) {
  std::vector<LoopContext> all;
  for (const BlockSummary& block : blocks) {
    for (LoopContext& context : loop_contexts(block)) {
      const auto known = std::ranges::find(all, context.var, &LoopContext::var);
      if (known == all.end()) {
        all.push_back(std::move(context));
      } else {
        join(*known, context);
      }
    }
  }
  return all;
}

std::vector<int> loop_parents(const std::vector<BlockSummary>& blocks) {
  std::vector<Var> loops;
  std::vector<int> parents;
  for (const BlockSummary& block : blocks) {
    int parent = -1;
    for (const LoopLevel& level : block.levels) {
      const auto known = std::ranges::find(loops, level.var);
      const auto place = static_cast<int>(known - loops.begin());
      if (known == loops.end()) {
        loops.push_back(level.var);
        parents.push_back(parent);
      }
      parent = place;
    }
  }
  return parents;
}

std::vector<LoopContext> longest_chain(const std::vector<BlockSummary>& blocks) {
  const auto longest = std::ranges::max_element(
      blocks, {}, [](const BlockSummary& block) { return std::pair(block.levels.size(), block.instances); });
  return longest == blocks.end() ? std::vector<LoopContext>() : loop_contexts(*longest);
}

const std::vector<std::string>& loop_context_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all{"length"};
    for (const NamedKind& kind : kKinds) all.emplace_back(kind.name);
    all.insert(all.end(), {"top_down", "bottom_up"});
    for (size_t i = 0; i < kContextBuffers; ++i)
      for (const char* number : {"touched", "reuse", "stride"})
        all.push_back(fmt::format("buffer{}.{}", i, number));
    return all;
  }();
  return names;
}

std::vector<float> context_numbers(const LoopContext& context) {
  std::vector<float> numbers{log_of_one_more(context.length)};
  for (const NamedKind& kind : kKinds) numbers.push_back(context.kind == kind.kind ? 1.0F : 0.0F);
  numbers.push_back(log_of_one_more(context.top_down));
  numbers.push_back(log_of_one_more(context.bottom_up));
  for (size_t i = 0; i < kContextBuffers; ++i) {
    const bool exists = i < context.touches.size();
    numbers.push_back(exists ? log_of_one_more(context.touches[i].touched) : 0);
    numbers.push_back(exists ? log_of_one_more(context.touches[i].reuse) : 0);
    numbers.push_back(exists ? log_of_one_more(context.touches[i].stride) : 0);
  }
  return numbers;
}

}  // namespace lathe
