#include "codegen/llvm/function_emitter.h"

#include <algorithm>

#include "base/check.h"
#include "codegen/llvm/types.h"
#include "codegen/patterns.h"

namespace lathe::llvm_backend {
namespace {

constexpr uint64_t kPointerBytes = 8;
// LatheParallel's fields.
constexpr uint64_t kPoolRunOffset = 0;

// What the functions of one entry share.
struct EntryContext {
  llvm::Module& module;
  const Processor& processor;
  const Target& target;
  const LoweredProgram& lowered;
  BufferSet buffers;
  std::string name;
  int parallel_loops = 0;
};

class FunctionEmitter {
 public:
  FunctionEmitter(EntryContext& entry, llvm::Function* function)
      : entry_(entry),
        function_(function),
        builder_(entry.module.getContext()),
        indices_(builder_, [this](const Expr& e, const Guard& guard) { return opaque_value(e, guard); }),
        memory_(builder_, entry.buffers, indices_),
        values_(builder_, memory_, indices_, entry.target) {
    builder_.SetInsertPoint(llvm::BasicBlock::Create(builder_.getContext(), "entry", function));
  }

  void emit_entry(const Stmt& body);
  void emit_task(const For& loop, const std::vector<IndexEmitter::Variable>& captured);

 private:
  void emit(const Stmt& stmt) {
    std::visit([this](const auto& node) { visit(node); }, stmt->node);
  }
  void visit(const For& loop);
  void visit(const Block& block);
  void visit(const Seq& seq);
  bool is_in_registers(const Stmt& store) const;
  void emit_interleaved(std::span<const Stmt> stores);
  void visit(const Alloc& alloc) { emit(alloc.body); }
  void visit(const If& branch);
  void visit(const Store& store);
  void visit(const Prefetch& prefetch);
  void visit(const Barrier&) { LATHE_CHECK(false); }  // check_lowered lets none through

  // What every function starts with: the buffers' addresses.
  void set_bases(llvm::Value* thread);
  llvm::Value* base_of(const BufferUse& use, llvm::Value* thread);
  llvm::Value* byte_offset(llvm::Value* pointer, uint64_t bytes) {
    return builder_.CreateGEP(builder_.getInt8Ty(), pointer, builder_.getInt64(bytes));
  }
  llvm::Value* opaque_value(const Expr& e, const Guard& guard) {
    return builder_.CreateSExtOrTrunc(values_.emit(e, guard), builder_.getInt64Ty());
  }
  llvm::Value* extent_of(const For& loop);
  Interval extent_range(const For& loop) const;
  // `body` for lo .. hi-1, of which there is at least one where `runs` says so.
  void emit_loop(const For& loop, llvm::Value* lo, llvm::Value* hi, bool runs, Interval extent);
  void emit_parallel(const For& loop);
  void fence();
  llvm::Value* make_task_context();
  void call_task(llvm::Function* task, llvm::Value* context, llvm::Value* count);
  llvm::BasicBlock* new_block(const char* name) {
    return llvm::BasicBlock::Create(builder_.getContext(), name, function_);
  }

  EntryContext& entry_;
  llvm::Function* function_;
  Builder builder_;
  IndexEmitter indices_;
  MemoryEmitter memory_;
  ValueEmitter values_;
  llvm::Value* pointers_ = nullptr;  // the entry's `buffers`
  llvm::Value* workspace_ = nullptr;
  llvm::Value* pool_ = nullptr;  // null within a parallel loop
};

// A line of the cache: loops then lie in its lines as they did where the program was measured, wherever an
// artifact has it.
constexpr uint64_t kCodeAlignment = 64;

void set_attributes(llvm::Function* function) {
  function->setAlignment(llvm::Align(kCodeAlignment));
  function->addFnAttr(llvm::Attribute::NoUnwind);
  function->addFnAttr("frame-pointer", "none");
}

llvm::FunctionType* task_type(llvm::LLVMContext& context) {
  llvm::Type* pointer = llvm::PointerType::getUnqual(context);
  llvm::Type* i64 = llvm::Type::getInt64Ty(context);
  return llvm::FunctionType::get(llvm::Type::getVoidTy(context),
                                 {pointer, i64, i64, llvm::Type::getInt32Ty(context)}, false);
}

llvm::Value* FunctionEmitter::base_of(const BufferUse& use, llvm::Value* thread) {
  const MemoryPlan& plan = entry_.lowered.memory;
  switch (use.storage) {
    case Storage::argument: {
      llvm::Value* slot = byte_offset(pointers_, kPointerBytes * static_cast<uint64_t>(use.argument));
      return builder_.CreateAlignedLoad(builder_.getPtrTy(), slot, llvm::Align(kPointerBytes),
                                        use.tensor->name);
    }
    case Storage::workspace: return byte_offset(workspace_, static_cast<uint64_t>(use.offset));
    case Storage::thread: {
      llvm::Value* arena =
          builder_.CreateNSWMul(thread, builder_.getInt64(static_cast<uint64_t>(plan.thread_bytes)));
      llvm::Value* start = builder_.CreateGEP(builder_.getInt8Ty(), workspace_, arena);
      return byte_offset(start, static_cast<uint64_t>(plan.shared_bytes + use.offset));
    }
    case Storage::shared: LATHE_CHECK(false);  // check_lowered lets no blocks through
    case Storage::registers: {
      // Room for a whole vector at the end, so that a masked access may read all of it.
      const uint64_t bytes = static_cast<uint64_t>(use.bytes) + 64;
      auto* values = builder_.CreateAlloca(llvm::ArrayType::get(builder_.getInt8Ty(), bytes));
      values->setAlignment(llvm::Align(64));
      return values;
    }
    case Storage::literal: return entry_.buffers.literal(use.tensor);
  }
  return nullptr;
}

void FunctionEmitter::set_bases(llvm::Value* thread) {
  for (const BufferUse& use : entry_.buffers.uses()) memory_.set_base(use.tensor, base_of(use, thread));
}

void FunctionEmitter::emit_entry(const Stmt& body) {
  pointers_ = function_->getArg(0);
  workspace_ = function_->getArg(2);
  pool_ = function_->getArg(3);
  set_bases(builder_.getInt64(0));
  indices_.open_level();
  emit(body);
  indices_.close_level();
  fence();
  builder_.CreateRet(builder_.getInt32(0));
}

// The context of a parallel loop's pieces: `buffers`, the workspace, the loop variables outside.
llvm::Value* FunctionEmitter::make_task_context() {
  const std::vector<IndexEmitter::Variable>& captured = indices_.variables();
  llvm::BasicBlock& first = function_->getEntryBlock();
  Builder at_entry(&first, first.begin());
  llvm::Type* type = llvm::ArrayType::get(builder_.getInt64Ty(), 2 + captured.size());
  llvm::Value* context = at_entry.CreateAlloca(type);
  builder_.CreateStore(pointers_, context);
  builder_.CreateStore(workspace_, byte_offset(context, kPointerBytes));
  for (size_t i = 0; i < captured.size(); ++i) {
    builder_.CreateStore(captured[i].value, byte_offset(context, kPointerBytes * (2 + i)));
  }
  return context;
}

void FunctionEmitter::emit_task(const For& loop, const std::vector<IndexEmitter::Variable>& captured) {
  llvm::Value* context = function_->getArg(0);
  pointers_ = builder_.CreateLoad(builder_.getPtrTy(), context);
  workspace_ = builder_.CreateLoad(builder_.getPtrTy(), byte_offset(context, kPointerBytes));
  std::vector<llvm::Value*> values;
  for (size_t i = 0; i < captured.size(); ++i) {
    values.push_back(
        builder_.CreateLoad(builder_.getInt64Ty(), byte_offset(context, kPointerBytes * (2 + i))));
  }
  set_bases(builder_.CreateSExt(function_->getArg(3), builder_.getInt64Ty()));
  indices_.open_level();
  for (size_t i = 0; i < captured.size(); ++i) indices_.define(captured[i].var, values[i], captured[i].range);
  emit_loop(loop, function_->getArg(1), function_->getArg(2), false, extent_range(loop));
  indices_.close_level();
  fence();
  builder_.CreateRetVoid();
}

// What was written past the caches is in no order with the stores after it: another thread that learns that
// this one is done could read what was there before.
void FunctionEmitter::fence() {
  if (entry_.processor.fence_streams == nullptr) return;
  if (!std::ranges::any_of(entry_.buffers.uses(), &BufferUse::streams)) return;
  entry_.processor.fence_streams(builder_);
}

llvm::Value* FunctionEmitter::extent_of(const For& loop) {
  llvm::Value* extent = nullptr;
  for (const Affine& bound : loop.extents) {
    llvm::Value* value = indices_.value(bound);
    extent = extent == nullptr ? value : builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, extent, value);
  }
  LATHE_CHECK(extent != nullptr);
  return extent;
}

Interval FunctionEmitter::extent_range(const For& loop) const {
  Interval range{INT64_MAX, INT64_MAX};
  for (const Affine& bound : loop.extents) {
    const Interval one = indices_.range(bound).value_or(Interval{0, INT64_MAX});
    range = {std::min(range.lo, one.lo), std::min(range.hi, one.hi)};
  }
  return range;
}

void FunctionEmitter::visit(const For& loop) {
  if (loop.kind == LoopKind::parallel) return emit_parallel(loop);
  const Interval extent = extent_range(loop);
  emit_loop(loop, builder_.getInt64(0), extent_of(loop), extent.lo >= 1, extent);
}

void FunctionEmitter::emit_loop(const For& loop, llvm::Value* lo, llvm::Value* hi, bool runs,
                                Interval extent) {
  llvm::BasicBlock* before = builder_.GetInsertBlock();
  llvm::BasicBlock* body = new_block("loop");
  llvm::BasicBlock* after = llvm::BasicBlock::Create(builder_.getContext(), "after");
  if (runs) {
    builder_.CreateBr(body);
  } else {
    builder_.CreateCondBr(builder_.CreateICmpSLT(lo, hi), body, after);
  }
  builder_.SetInsertPoint(body);
  llvm::PHINode* variable = builder_.CreatePHI(builder_.getInt64Ty(), 2, loop.var.name());
  variable->addIncoming(lo, before);
  indices_.open_loop(variable, before, lo);
  indices_.define(loop.var, variable, {0, std::max<int64_t>(extent.hi - 1, 0)});
  emit(loop.body);
  builder_.CreateCondBr(indices_.close_loop(hi), body, after);
  after->insertInto(function_);
  builder_.SetInsertPoint(after);
}

void FunctionEmitter::emit_parallel(const For& loop) {
  llvm::Value* count = extent_of(loop);
  llvm::Value* context = make_task_context();
  const std::string name = entry_.name + "." + std::to_string(entry_.parallel_loops++);
  auto* task = llvm::Function::Create(task_type(builder_.getContext()), llvm::GlobalValue::InternalLinkage,
                                      name, entry_.module);
  set_attributes(task);
  task->addFnAttr(llvm::Attribute::NoInline);
  FunctionEmitter(entry_, task).emit_task(loop, indices_.variables());
  call_task(task, context, count);
}

// Through the pool where there is one, else here and now, as thread 0.
void FunctionEmitter::call_task(llvm::Function* task, llvm::Value* context, llvm::Value* count) {
  llvm::BasicBlock* alone = new_block("alone");
  llvm::BasicBlock* together = new_block("together");
  llvm::BasicBlock* after = new_block("after");
  builder_.CreateCondBr(builder_.CreateIsNull(pool_), alone, together);
  builder_.SetInsertPoint(alone);
  builder_.CreateCall(task, {context, builder_.getInt64(0), count, builder_.getInt32(0)});
  builder_.CreateBr(after);
  builder_.SetInsertPoint(together);
  llvm::Type* pointer = builder_.getPtrTy();
  auto* run_type = llvm::FunctionType::get(builder_.getVoidTy(),
                                           {pointer, pointer, pointer, builder_.getInt64Ty()}, false);
  llvm::Value* run = builder_.CreateLoad(pointer, byte_offset(pool_, kPoolRunOffset));
  builder_.CreateCall(run_type, run, {pool_, task, context, count});
  builder_.CreateBr(after);
  builder_.SetInsertPoint(after);
}

void FunctionEmitter::visit(const Block&) {
  LATHE_CHECK(false);  // check_lowered lets no block through
}

void FunctionEmitter::visit(const Seq& seq) {
  for (std::span<const Stmt> left(seq.statements); !left.empty();) {
    const size_t together = interleaved_stores(left);
    if (together != 0 && !is_in_registers(left.front())) {
      emit_interleaved(left.first(together));
      left = left.subspan(together);
    } else {
      emit(left.front());
      left = left.subspan(1);
    }
  }
}

// What LLVM must be able to turn into values is stored as it is read.
bool FunctionEmitter::is_in_registers(const Stmt& store) const {
  return entry_.buffers.find(std::get<Store>(store->node).tensor).storage == Storage::registers;
}

// Their values first: none of them reads what they write.
void FunctionEmitter::emit_interleaved(std::span<const Stmt> stores) {
  values_.begin_statement();
  std::vector<llvm::Value*> values;
  for (const Stmt& store : stores) values.push_back(values_.emit(std::get<Store>(store->node).value));
  const auto& first = std::get<Store>(stores.front()->node);
  memory_.store_interleaved(first, first.value.type(), values);
}

void FunctionEmitter::visit(const If& branch) {
  values_.begin_statement();
  llvm::Value* holds = builder_.getTrue();
  for (const Conjunct& conjunct : branch.conditions) {
    const Affine terms = conjunct.value - conjunct.value.constant();
    llvm::Value* bound = builder_.getInt64(static_cast<uint64_t>(conjunct.bound - conjunct.value.constant()));
    holds = builder_.CreateAnd(holds, builder_.CreateICmpSLT(indices_.value(terms), bound));
  }
  llvm::BasicBlock* then = new_block("then");
  llvm::BasicBlock* after = llvm::BasicBlock::Create(builder_.getContext(), "after");
  builder_.CreateCondBr(holds, then, after);
  builder_.SetInsertPoint(then);
  emit(branch.body);
  builder_.CreateBr(after);
  after->insertInto(function_);
  builder_.SetInsertPoint(after);
}

void FunctionEmitter::visit(const Store& store) {
  values_.begin_statement();
  llvm::Value* value = values_.emit(store.value);
  llvm::Value* mask = store.mask.defined() ? values_.emit(store.mask) : nullptr;
  memory_.store(store, store.value.type(), value, mask);
}

void FunctionEmitter::visit(const Prefetch& prefetch) {
  values_.begin_statement();
  memory_.prefetch(prefetch);
}

}  // namespace

void emit_entry(llvm::Module& module, const Processor& processor, const Target& target,
                const LoweredProgram& lowered, const Stmt& body, const std::string& name) {
  llvm::LLVMContext& context = module.getContext();
  llvm::Type* pointer = llvm::PointerType::getUnqual(context);
  auto* type =
      llvm::FunctionType::get(llvm::Type::getInt32Ty(context), {pointer, pointer, pointer, pointer}, false);
  auto* function = llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, name, module);
  set_attributes(function);
  EntryContext entry{module, processor, target, lowered, BufferSet(module, buffers_used(lowered, body)),
                     name};
  FunctionEmitter(entry, function).emit_entry(body);
}

}  // namespace lathe::llvm_backend
