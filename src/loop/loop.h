// The loop program (docs/architecture.md): what a trace rewrites, what lowering turns into plain loops and
// stores, and what a code generator prints. Immutable nodes behind shared handles; passes are functions.
//
// Semantics. A loop runs 0 .. extent-1 by 1; an extent is the least of its affine forms (>= 0, else no
// iteration). A Block is one instance of a compute: its axes take the values of their bindings (affine in the
// loops around it), and it does nothing where a conjunct of its predicate fails (value < bound must hold); a
// neutral conjunct fails only where the value is the reduction's identity, so that running there anyway
// changes nothing. Body and output index name axes only. A reducing block with `initialises` first stores the
// reduction's identity where all its reduce axes are 0, then output = reduction(output, value). Without a
// reduction: output = value. Sibling order is program order. Iterations of a parallel loop write disjoint
// elements; so do those of block and thread loops, which run side by side on a device that has many threads:
// block loops share nothing but what lies outside of them, thread loops all that lies around them. Run one
// after the other they give the same, so every analysis takes them for ordinary loops.
//
//   stmt ::= For(var, extents, kind, stmt) | Block(...) | Seq(stmt*) | Alloc(tensor, scope, layout, stmt)
//          | If(conjunct*, stmt) | Store(tensor, index, value [, stride, mask]) | Prefetch(tensor, index)
//          | Barrier(memory)
// Scheduled programs have For, Block, Seq, Alloc, Prefetch. Lowered ones have no Block; after
// `flatten_buffers` each access has one index, the offset; after `vectorize_loops` and `unroll_loops` only
// serial, parallel, block and thread loops are left. Barriers are put in by lowering alone.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "expr/dag.h"
#include "task/layout.h"
#include "task/task.h"

namespace lathe {

// `tensorized`: all iterations are one intrinsic's work.
enum class LoopKind : uint8_t { serial, unrolled, vectorized, parallel, tensorized, block, thread };
// Where a buffer lives: registers (constant indices after unrolling), a thread's own arena, the arena of the
// whole call, or the memory that the threads of one iteration of the block loops share.
enum class Scope : uint8_t { registers, thread, workspace, shared };
// How lowering treats a block's conjunct on an axis (docs/architecture.md, "The loop IR", 2).
enum class Tail : uint8_t { guard, bound, peel, mask, overlap, pad };

struct StmtNode;
using Stmt = std::shared_ptr<const StmtNode>;

// value < bound.
struct Conjunct {
  Affine value;  // over loop variables
  int64_t bound = 0;
  int axis = -1;            // the block axis that it guards; -1: none
  Tail tail = Tail::guard;  // in an If (lowered): how to treat it; in a Block the axis' tail decides
  // In a Block that reduces: no condition on what is computed, where it fails there is nothing to add.
  bool is_neutral = false;
};

struct For {
  Var var;
  std::vector<Affine> extents;  // the least counts; over outer loop variables
  LoopKind kind = LoopKind::serial;
  Stmt body;
  std::string intrinsic = {};  // of a tensorized loop, by name
};

inline For with_body(For loop, Stmt body) {
  loop.body = std::move(body);
  return loop;
}

struct BlockAxis {
  Axis axis;
  Affine binding;  // over loop variables
  Tail tail = Tail::guard;
};

struct Block {
  std::string name;  // unique in the program
  std::vector<BlockAxis> axes;
  std::vector<Conjunct> predicate;
  Tensor output;
  std::vector<Affine> output_index;  // over axes
  Reduction reduction = Reduction::none;
  bool initialises = false;
  Expr value;  // over axes
};

struct Seq {
  std::vector<Stmt> statements;
};

struct Alloc {
  Tensor tensor;
  Scope scope = Scope::workspace;
  Layout layout;
  Stmt body;  // the buffer's lifetime
};

struct If {
  std::vector<Conjunct> conditions;  // all must hold
  Stmt body;
};

struct Store {
  Tensor tensor;
  std::vector<Affine> index;
  Expr value;          // its lanes are the store's
  int64_t stride = 0;  // in elements between lanes; 0 for a scalar store
  Expr mask;           // lanes to write; undefined: all
};

// Fetches the cache line of an element towards the second-level cache; never faults, whatever the index.
struct Prefetch {
  Tensor tensor;
  std::vector<Affine> index;
};

// The threads of a block wait for each other here: what each wrote before, the others read after.
struct Barrier {
  bool is_global = false;  // of buffers in the device's memory too, not of shared ones alone
};

struct StmtNode {
  std::variant<For, Block, Seq, Alloc, If, Store, Prefetch, Barrier> node;
};

template <class Node>
Stmt make_stmt(Node node) {
  return std::make_shared<const StmtNode>(StmtNode{std::move(node)});
}
template <class Node>
const Node* as(const Stmt& stmt) {
  return stmt ? std::get_if<Node>(&stmt->node) : nullptr;
}
// A Seq of what is not null; a single statement stands for itself; null for none.
Stmt make_seq(std::vector<Stmt> statements);

// A buffer that `prepare` fills and `main` reads.
struct Prepared {
  Tensor tensor;
  Layout layout;
};

struct Program {
  std::vector<Argument> arguments;
  std::vector<Prepared> prepared;
  Stmt prepare;  // null: nothing to prepare
  Stmt main;
  bool flat = false;  // set by `flatten_buffers`: each access has one index, the offset in its storage
};

// One loop nest a compute, in Dag order, bindings the identity; intermediates allocated around all of it.
Program naive_program(const Task& task);

// Whether the iterations of such a loop run side by side in any order.
bool runs_at_once(LoopKind kind);
// The constant extent of a loop, or -1.
int64_t constant_extent(const For& loop);

}  // namespace lathe
