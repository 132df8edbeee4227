// A schedule as a value: a list of steps that print, parse, hash and replay. Steps name blocks and loops by
// names that follow from the program: compute `C` gives block C with loops named as its axes, `split C i [4
// 8]` makes i.0 i.1 i.2 of i, `fuse C i j` makes i_j. A loop is looked up from the block outwards.
//
// Beside its members each step declares its text (step_fields.h). A step that leaves every block in the
// scopes where it was says so by `kKeepsScopes`; after all others these are checked (check_scopes.h).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <variant>
#include <vector>

#include "base/result.h"
#include "loop/loop.h"
#include "schedule/step_fields.h"

namespace lathe {

// Dag -> Dag by a named algorithm (src/rewrite): only as the first steps of a trace.
struct RewriteStep {
  std::string rule;   // "winograd", "phases" ...
  std::string stage;  // the compute that it rewrites
  std::map<std::string, int64_t> parameters;

  static constexpr std::string_view kKeyword = "rewrite";
  static constexpr auto kFields =
      std::tuple(&RewriteStep::rule, &RewriteStep::stage, &RewriteStep::parameters);
  bool operator==(const RewriteStep&) const = default;
};
// One loop into factors.size() + 1 nested ones; the outer extent is the ceiling of what the factors leave.
struct SplitStep {
  std::string block;
  std::string loop;
  std::vector<int64_t> factors;

  static constexpr std::string_view kKeyword = "split";
  static constexpr auto kFields = std::tuple(&SplitStep::block, &SplitStep::loop, &SplitStep::factors);
  static constexpr bool kKeepsScopes = true;
  bool operator==(const SplitStep&) const = default;
};
// Directly nested loops into one, in the order given, outermost first.
struct FuseStep {
  std::string block;
  std::vector<std::string> loops;

  static constexpr std::string_view kKeyword = "fuse";
  static constexpr auto kFields = std::tuple(&FuseStep::block, &FuseStep::loops);
  static constexpr bool kKeepsScopes = true;
  bool operator==(const FuseStep&) const = default;
};
// The named loops, which lie on one chain without siblings, take each other's places in the order given.
struct ReorderStep {
  std::string block;
  std::vector<std::string> loops;

  static constexpr std::string_view kKeyword = "reorder";
  static constexpr auto kFields = std::tuple(&ReorderStep::block, &ReorderStep::loops);
  static constexpr bool kKeepsScopes = true;
  bool operator==(const ReorderStep&) const = default;
};
// serial, unrolled, vectorized or parallel, or bound to the blocks or the threads of a device (`bind`). Its
// keyword says the kind, so its text is one of its own in trace_text.cpp.
struct AnnotateStep {
  std::string block;
  std::string loop;
  LoopKind kind = LoopKind::serial;

  static constexpr bool kKeepsScopes = true;
  bool operator==(const AnnotateStep&) const = default;
};
// An intermediate's body goes into its consumers.
struct InlineStep {
  std::string block;

  static constexpr std::string_view kKeyword = "inline";
  static constexpr auto kFields = std::tuple(&InlineStep::block);
  bool operator==(const InlineStep&) const = default;
};
// The producer computes what one iteration of the consumer's loop needs, at the beginning of that loop's
// body.
struct ComputeAtStep {
  std::string block;
  std::string consumer;
  std::string loop;
  Scope scope = Scope::thread;  // of the buffer between them, where it can move under the loop

  static constexpr std::string_view kKeyword = "compute_at";
  static constexpr auto kFields = std::tuple(&ComputeAtStep::block, &ComputeAtStep::consumer,
                                             &ComputeAtStep::loop, Keyed{"scope", &ComputeAtStep::scope});
  bool operator==(const ComputeAtStep&) const = default;
};
// The consumer takes what one iteration of the producer's loop wrote, at the end of that loop's body.
struct ReverseComputeAtStep {
  std::string block;
  std::string producer;
  std::string loop;
  Scope scope = Scope::thread;

  static constexpr std::string_view kKeyword = "reverse_compute_at";
  static constexpr auto kFields =
      std::tuple(&ReverseComputeAtStep::block, &ReverseComputeAtStep::producer, &ReverseComputeAtStep::loop,
                 Keyed{"scope", &ReverseComputeAtStep::scope});
  bool operator==(const ReverseComputeAtStep&) const = default;
};
// A compute that reads only constants, tables and prepared buffers runs once at load, and its result is kept.
struct PrepareStep {
  std::string block;

  static constexpr std::string_view kKeyword = "prepare";
  static constexpr auto kFields = std::tuple(&PrepareStep::block);
  bool operator==(const PrepareStep&) const = default;
};
// A copy of what `block` reads of `tensor`, in a layout of its own: in `prepare` (constants only), at the
// root, or at the beginning of the body of one of the block's loops. Positions beyond the tensor's shape hold
// 0. The copy may have a wider element type, where every read is cast.
struct CacheReadStep {
  std::string block;
  std::string tensor;
  std::string copy;  // the new buffer's and block's name
  std::string at;    // "prepare", "root" or a loop of `block`
  Scope scope = Scope::thread;
  Layout layout;                    // empty: row-major
  std::optional<DType> dtype = {};  // of the copy; none: the tensor's

  static constexpr std::string_view kKeyword = "cache_read";
  static constexpr auto kFields =
      std::tuple(&CacheReadStep::block, &CacheReadStep::tensor, &CacheReadStep::copy,
                 Keyed{"at", &CacheReadStep::at}, Keyed{"scope", &CacheReadStep::scope},
                 Option{"layout", &CacheReadStep::layout}, Option{"type", &CacheReadStep::dtype});
  bool operator==(const CacheReadStep&) const = default;
};
// `block` writes a local copy; `copy`.out stores it at the end of the loop's body, and below reduce loops
// `copy`.in loads it at the beginning.
struct CacheWriteStep {
  std::string block;
  std::string copy;
  std::string loop;
  Scope scope = Scope::registers;

  static constexpr std::string_view kKeyword = "cache_write";
  static constexpr auto kFields =
      std::tuple(&CacheWriteStep::block, &CacheWriteStep::copy, Keyed{"at", &CacheWriteStep::loop},
                 Keyed{"scope", &CacheWriteStep::scope});
  bool operator==(const CacheWriteStep&) const = default;
};
// A reduce loop becomes a spatial axis (the last) of a new block `block`.rf, and `block` adds up its results.
struct RfactorStep {
  std::string block;
  std::string loop;

  static constexpr std::string_view kKeyword = "rfactor";
  static constexpr auto kFields = std::tuple(&RfactorStep::block, &RfactorStep::loop);
  bool operator==(const RfactorStep&) const = default;
};
// The memory order of an intermediate, a prepared buffer, or an argument whose layout is free.
struct LayoutStep {
  std::string tensor;
  Layout layout;

  static constexpr std::string_view kKeyword = "layout";
  static constexpr auto kFields = std::tuple(&LayoutStep::tensor, &LayoutStep::layout);
  static constexpr bool kKeepsScopes = true;
  bool operator==(const LayoutStep&) const = default;
};
// How lowering treats imperfect tiles on one axis of a block.
struct TailStep {
  std::string block;
  std::string axis;
  Tail tail = Tail::guard;

  static constexpr std::string_view kKeyword = "tail";
  static constexpr auto kFields = std::tuple(&TailStep::block, &TailStep::axis, &TailStep::tail);
  static constexpr bool kKeepsScopes = true;
  bool operator==(const TailStep&) const = default;
};
// Fetches what `block` reads of `tensor` `distance` iterations of `loop` ahead, at the start of that loop's
// body. With `at`, a loop inside it, the work is spread: each iteration of `at` fetches some cache lines of
// what its loops will read, so that the loops between the two that reread the tensor share them out.
struct PrefetchStep {
  std::string block;
  std::string tensor;
  std::string loop;
  int64_t distance = 1;
  std::string at = {};  // empty: `loop` itself

  static constexpr std::string_view kKeyword = "prefetch";
  static constexpr auto kFields =
      std::tuple(&PrefetchStep::block, &PrefetchStep::tensor, &PrefetchStep::loop,
                 Keyed{"distance", &PrefetchStep::distance}, Option{"at", &PrefetchStep::at});
  bool operator==(const PrefetchStep&) const = default;
};

// Leaves out the iterations of serial and parallel loops in which a factor of the summed product is a zero
// put there by a condition: around an image, or among the taps of a phase.
struct SkipZerosStep {
  std::string block;

  static constexpr std::string_view kKeyword = "skip_zeros";
  static constexpr auto kFields = std::tuple(&SkipZerosStep::block);
  static constexpr bool kKeepsScopes = true;
  bool operator==(const SkipZerosStep&) const = default;
};
// Whole vectors of an output are written to memory past the caches, which then need not fetch what is there:
// for outputs that no cache holds until somebody reads them.
struct StreamStep {
  std::string tensor;

  static constexpr std::string_view kKeyword = "stream";
  static constexpr auto kFields = std::tuple(&StreamStep::tensor);
  static constexpr bool kKeepsScopes = true;
  bool operator==(const StreamStep&) const = default;
};

// The loop's iterations, each a term of the sum, are computed by an intrinsic of that name (src/intrinsics).
struct TensorizeStep {
  std::string block;
  std::string loop;
  std::string intrinsic;

  static constexpr std::string_view kKeyword = "tensorize";
  static constexpr auto kFields =
      std::tuple(&TensorizeStep::block, &TensorizeStep::loop, Keyed{"intrinsic", &TensorizeStep::intrinsic});
  static constexpr bool kKeepsScopes = true;
  bool operator==(const TensorizeStep&) const = default;
};

using Step =
    std::variant<RewriteStep, SplitStep, FuseStep, ReorderStep, AnnotateStep, InlineStep, ComputeAtStep,
                 ReverseComputeAtStep, PrepareStep, CacheReadStep, CacheWriteStep, RfactorStep, LayoutStep,
                 TailStep, PrefetchStep, SkipZerosStep, StreamStep, TensorizeStep>;
using Trace = std::vector<Step>;

std::string to_string(const Step& step);
// One step a line; docs/trace_format.md.
std::string to_string(const Trace& trace);
Result<Trace> parse_trace(std::string_view text, std::string name = "trace");
uint64_t hash_of(const Trace& trace);

}  // namespace lathe
