#include "codegen/llvm/index_emitter.h"

#include <algorithm>

#include "base/check.h"

namespace lathe::llvm_backend {
namespace {

// Lets the builder stand elsewhere for a while.
class At {
 public:
  At(Builder& builder, llvm::Instruction* place) : restore_(builder) { builder.SetInsertPoint(place); }

 private:
  Builder::InsertPointGuard restore_;
};

}  // namespace

bool IndexEmitter::Less::operator()(const std::pair<llvm::Value*, Affine>& a,
                                    const std::pair<llvm::Value*, Affine>& b) const {
  if (a.first != b.first) return a.first < b.first;
  return compare(a.second, b.second) < 0;
}

void IndexEmitter::open_level() {
  Level level;
  level.variables = variables_.size();
  if (!levels_.empty()) level.ranges = levels_.back().ranges;
  llvm::Constant* bit = builder_.getFalse();
  level.place = builder_.Insert(llvm::BinaryOperator::CreateAdd(bit, bit));
  levels_.push_back(std::move(level));
}

void IndexEmitter::open_loop(llvm::PHINode* variable, llvm::BasicBlock* entry, llvm::Value* first) {
  open_level();
  levels_.back().variable = variable;
  levels_.back().entry = entry;
  levels_.back().first = first;
}

void IndexEmitter::close_level() {
  levels_.back().place->eraseFromParent();
  variables_.erase(variables_.begin() + static_cast<std::ptrdiff_t>(levels_.back().variables),
                   variables_.end());
  levels_.pop_back();
}

llvm::Value* IndexEmitter::close_loop(llvm::Value* end) {
  const Level level = levels_.back();
  close_level();
  llvm::BasicBlock* last = builder_.GetInsertBlock();
  llvm::Value* advanced = nullptr;
  for (const Recurrence& recurrence : level.recurrences) {
    llvm::Value* next = builder_.CreateGEP(builder_.getInt8Ty(), recurrence.pointer,
                                           builder_.getInt64(static_cast<uint64_t>(recurrence.step)));
    recurrence.pointer->addIncoming(next, last);
    if (advanced == nullptr) advanced = next;
  }
  if (advanced != nullptr && level.variable->use_empty()) {
    level.variable->eraseFromParent();
    const Recurrence& counter = level.recurrences.front();
    return builder_.CreateICmpNE(advanced, moved(level, counter.start, end, counter.step));
  }
  llvm::Value* next = builder_.CreateAdd(level.variable, builder_.getInt64(1), "", true, true);
  level.variable->addIncoming(next, last);
  return builder_.CreateICmpNE(next, end);
}

void IndexEmitter::define(const Var& var, llvm::Value* value, Interval range) {
  variables_.push_back({var, value, range, levels_.size() - 1});
  levels_.back().ranges.set(var, range);
}

const IndexEmitter::Variable& IndexEmitter::find(const AtomNode* atom) const {
  const auto found = std::ranges::find_if(
      variables_, [&](const Variable& variable) { return variable.var.atom().get() == atom; });
  LATHE_CHECK(found != variables_.end());
  return *found;
}

std::optional<size_t> IndexEmitter::level_of(const AtomNode& atom) const {
  switch (atom.kind) {
    case AtomKind::variable: return find(&atom).level;
    case AtomKind::floor_div:
    case AtomKind::modulo: return level_of(atom.operand);
    case AtomKind::opaque: return std::nullopt;
  }
  return std::nullopt;
}

std::optional<size_t> IndexEmitter::level_of(const Affine& a) const {
  size_t level = 0;
  for (const Affine::Term& term : a.terms()) {
    const std::optional<size_t> of_term = level_of(*term.atom);
    if (!of_term) return std::nullopt;
    level = std::max(level, *of_term);
  }
  return level;
}

llvm::Value* IndexEmitter::value(const Affine& a, const Guard& guard) {
  llvm::Value* terms = sum(nullptr, a, guard);
  if (terms == nullptr) return builder_.getInt64(static_cast<uint64_t>(a.constant()));
  if (a.constant() == 0) return terms;
  return builder_.CreateNSWAdd(terms, builder_.getInt64(static_cast<uint64_t>(a.constant())));
}

llvm::Value* IndexEmitter::pointer(llvm::Value* base, const Affine& bytes, const Guard& guard) {
  llvm::Value* terms = sum(base, bytes, guard);
  if (terms == nullptr) terms = base;
  if (bytes.constant() == 0) return terms;
  return builder_.CreateGEP(builder_.getInt8Ty(), terms,
                            builder_.getInt64(static_cast<uint64_t>(bytes.constant())));
}

llvm::Value* IndexEmitter::add(llvm::Value* base, llvm::Value* sum, llvm::Value* term) {
  if (base != nullptr) return builder_.CreateGEP(builder_.getInt8Ty(), sum == nullptr ? base : sum, term);
  return sum == nullptr ? term : builder_.CreateNSWAdd(sum, term);
}

llvm::Value* IndexEmitter::sum(llvm::Value* base, const Affine& a, const Guard& guard) {
  llvm::Value* result = nullptr;
  Affine prefix;
  for (size_t depth = 0; depth < levels_.size(); ++depth) {
    std::vector<const Affine::Term*> terms;
    for (const Affine::Term& term : a.terms()) {
      if (level_of(*term.atom) == depth) terms.push_back(&term);
    }
    if (terms.empty()) continue;
    for (const Affine::Term* term : terms) prefix += Affine(term->atom, term->coefficient);
    Level& level = levels_[depth];
    const auto known = level.known.find({base, prefix});
    if (known != level.known.end()) {
      result = known->second;
      continue;
    }
    if (base != nullptr && terms.size() == 1 && advances(level, *terms.front())) {
      result = advance(level, result == nullptr ? base : result, *terms.front());
    } else {
      const At at(builder_, level.place);
      llvm::Value* part = nullptr;
      for (const Affine::Term* term : terms) part = add(nullptr, part, term_value(*term, guard));
      result = add(base, result, part);
    }
    level.known.emplace(std::pair(base, prefix), result);
  }
  for (const Affine::Term& term : a.terms()) {
    if (!level_of(*term.atom)) result = add(base, result, term_value(term, guard));
  }
  return result;
}

bool IndexEmitter::advances(const Level& level, const Affine::Term& term) const {
  return level.variable != nullptr && term.atom->kind == AtomKind::variable &&
         find(term.atom.get()).value == level.variable;
}

llvm::Value* IndexEmitter::moved(const Level& level, llvm::Value* start, llvm::Value* count, int64_t step) {
  const At at(builder_, level.entry->getTerminator());
  llvm::Value* bytes = builder_.CreateNSWMul(count, builder_.getInt64(static_cast<uint64_t>(step)));
  const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(bytes);
  if (constant != nullptr && constant->isZero()) return start;
  return builder_.CreateGEP(builder_.getInt8Ty(), start, bytes);
}

llvm::Value* IndexEmitter::advance(Level& level, llvm::Value* start, const Affine::Term& term) {
  const At at(builder_, level.variable);
  llvm::PHINode* pointer = builder_.CreatePHI(builder_.getPtrTy(), 2, level.variable->getName());
  pointer->addIncoming(moved(level, start, level.first, term.coefficient), level.entry);
  level.recurrences.push_back({pointer, start, term.coefficient});
  return pointer;
}

llvm::Value* IndexEmitter::term_value(const Affine::Term& term, const Guard& guard) {
  llvm::Value* value = atom_value(term.atom, guard);
  if (term.coefficient == 1) return value;
  return builder_.CreateNSWMul(value, builder_.getInt64(static_cast<uint64_t>(term.coefficient)));
}

llvm::Value* IndexEmitter::atom_value(const Atom& atom, const Guard& guard) {
  switch (atom->kind) {
    case AtomKind::variable: return find(atom.get()).value;
    case AtomKind::opaque: return opaque_(*atom->opaque, guard);
    case AtomKind::floor_div:
    case AtomKind::modulo: break;
  }
  const std::optional<size_t> depth = level_of(*atom);
  if (!depth) return division(*atom, guard);
  Level& level = levels_[*depth];
  const std::pair<llvm::Value*, Affine> key(nullptr, Affine(atom));
  const auto known = level.known.find(key);
  if (known != level.known.end()) return known->second;
  const At at(builder_, level.place);
  llvm::Value* result = division(*atom, guard);
  level.known.emplace(key, result);
  return result;
}

// Rounds down. A value known to be no less than 0 divides unsigned, which LLVM turns into a shift or
// multiply.
llvm::Value* IndexEmitter::division(const AtomNode& atom, const Guard& guard) {
  llvm::Value* operand = value(atom.operand, guard);
  llvm::Value* divisor = builder_.getInt64(static_cast<uint64_t>(atom.divisor));
  const bool quotient = atom.kind == AtomKind::floor_div;
  const std::optional<Interval> interval = range(atom.operand);
  if (interval && interval->lo >= 0) {
    return quotient ? builder_.CreateUDiv(operand, divisor) : builder_.CreateURem(operand, divisor);
  }
  llvm::Value* zero = builder_.getInt64(0);
  llvm::Value* rest = builder_.CreateSRem(operand, divisor);
  llvm::Value* negative = builder_.CreateICmpSLT(rest, zero);
  if (!quotient) return builder_.CreateSelect(negative, builder_.CreateNSWAdd(rest, divisor), rest);
  llvm::Value* towards_zero = builder_.CreateSDiv(operand, divisor);
  return builder_.CreateNSWSub(towards_zero, builder_.CreateZExt(negative, builder_.getInt64Ty()));
}

}  // namespace lathe::llvm_backend
