// The schedule primitives, one family a file, and what they share: finding blocks and loops by name and
// putting changed trees back. Every primitive is Program -> Program or an Error that names the reason.
#pragma once

#include <string>

#include "loop/walk.h"
#include "schedule/trace.h"

namespace lathe {

// What each step does to a program, and in words to the block that it names first (schedule/words.h).
Result<Program> apply(const Program& program, const RewriteStep& step);
std::string describe(const RewriteStep& step);
Result<Program> apply(const Program& program, const SplitStep& step);
std::string describe(const SplitStep& step);
Result<Program> apply(const Program& program, const FuseStep& step);
std::string describe(const FuseStep& step);
Result<Program> apply(const Program& program, const ReorderStep& step);
std::string describe(const ReorderStep& step);
Result<Program> apply(const Program& program, const AnnotateStep& step);
std::string describe(const AnnotateStep& step);
Result<Program> apply(const Program& program, const InlineStep& step);
std::string describe(const InlineStep& step);
Result<Program> apply(const Program& program, const ComputeAtStep& step);
std::string describe(const ComputeAtStep& step);
Result<Program> apply(const Program& program, const ReverseComputeAtStep& step);
std::string describe(const ReverseComputeAtStep& step);
Result<Program> apply(const Program& program, const PrepareStep& step);
std::string describe(const PrepareStep& step);
Result<Program> apply(const Program& program, const CacheReadStep& step);
std::string describe(const CacheReadStep& step);
Result<Program> apply(const Program& program, const CacheWriteStep& step);
std::string describe(const CacheWriteStep& step);
Result<Program> apply(const Program& program, const RfactorStep& step);
std::string describe(const RfactorStep& step);
Result<Program> apply(const Program& program, const LayoutStep& step);
std::string describe(const LayoutStep& step);
Result<Program> apply(const Program& program, const TailStep& step);
std::string describe(const TailStep& step);
Result<Program> apply(const Program& program, const PrefetchStep& step);
std::string describe(const PrefetchStep& step);
Result<Program> apply(const Program& program, const SkipZerosStep& step);
std::string describe(const SkipZerosStep& step);
Result<Program> apply(const Program& program, const StreamStep& step);
std::string describe(const StreamStep& step);
Result<Program> apply(const Program& program, const TensorizeStep& step);
std::string describe(const TensorizeStep& step);

// A block with all that is above it.
struct Located {
  Path path;                // root ... block
  bool in_prepare = false;  // in the prepare tree rather than main
  const Block* block = nullptr;

  // The position in `path` of the innermost loop of that name.
  Result<size_t> loop(std::string_view name) const;
  const For& loop_at(size_t position) const { return *as<For>(path[position]); }
};
Result<Located> locate(const Program& program, std::string_view block);

// The program with one node of main (or prepare) replaced; null removes it.
Program with_replaced(const Program& program, bool in_prepare, const StmtNode* target,
                      const Stmt& replacement);

inline std::unexpected<Error> illegal(std::string message) {
  return fail(ErrorKind::illegal_schedule, std::move(message));
}

// "a buffer of each thread": where what has that scope is kept.
std::string place_in_words(Scope scope);

// Loops that drive one of the block's reduce axes, outermost first, as positions in the path.
std::vector<size_t> reduce_loops(const Located& located);
// Whether a loop variable occurs in the binding of a reduce axis.
bool drives_reduce_axis(const Block& block, const Var& var);

// An Error if a loop at or above that position drives both a spatial and a reduce axis of the block: then no
// iteration of it is the last one for all that it works on.
Status check_unmixed(const Located& located, size_t position);
// An Error unless the block can be taken out of its loops and given fresh ones: it reduces whole, from its
// beginning, in a nest of its own.
Status check_movable(const Located& located);

// A block may be moved while it is one nest of its own: its tree is a chain of loops down to the block alone.
// The topmost node of that chain.
const StmtNode* own_nest(const Located& located);
// An Error if another block of main writes what the block writes: they depend on each other's order.
Status check_sole_writer(const Program& program, const Block& block);
// An Error unless the block's output is an intermediate, allocated in main, that no other block writes.
Status check_intermediate(const Program& program, const Block& block);

// An Error if a block or what it writes has that name.
Status check_new_name(const Program& program, const std::string& name);
// An Error unless the block's output index is its first axes, one by one.
Status check_point_wise_output(const Block& block);
// Simplifies the binding of the axis at `position` and adds the conjuncts that keep it within its domain,
// where the loops' ranges do not.
void guard_domain(Block& block, size_t position, const Ranges& ranges);

// A fresh nest for a block whose spatial axes run over a box: loops named as the axes, bindings base + loop,
// conjuncts where base + loop may leave an axis' domain; axes not in the box (reduce axes) run whole.
// Conjuncts that guard no axis follow the axes whose bindings they name, neutral ones are left out.
struct NestSide {
  size_t axis;  // index into block.axes
  Affine base;
  int64_t extent;
};
Stmt make_nest(Block block, const std::vector<NestSide>& sides, const Ranges& fixed);

// Puts a statement first (or last) in a loop's body, inside the Allocs that open it.
Stmt prepend(const Stmt& body, const Stmt& stmt);
Stmt append(const Stmt& body, const Stmt& stmt);
// Puts a statement before the first child of the body that touches `tensor` (or at the front).
Stmt insert_before_use(const Stmt& body, const Tensor& tensor, const Stmt& stmt);

// Whether anything below reads or writes the tensor.
bool touches(const Stmt& stmt, const Tensor& tensor);
bool reads(const Block& block, const Tensor& tensor);
// The Alloc of a tensor in main, or null.
const Alloc* find_alloc(const Program& program, const Tensor& tensor);
// Removes a tensor's Alloc, keeping its body.
Program without_alloc(const Program& program, const Tensor& tensor);
// Moves a tensor's Alloc to the body of the loop at `loop` (a node of main) if everything that touches it
// lies there and no loop of its writers around it drives a reduce axis; otherwise leaves it where it is.
Program sink_alloc(const Program& program, const Tensor& tensor, const StmtNode* loop, Scope scope);
// Replaces loads of one tensor by loads of another at the same index, in one block.
Block redirect_loads(const Block& block, const Tensor& from, const Tensor& to);

}  // namespace lathe
