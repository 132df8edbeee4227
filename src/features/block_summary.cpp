#include "features/block_summary.h"

#include <algorithm>
#include <map>

#include "loop/region.h"

namespace lathe {
namespace {

struct BufferPlace {
  Scope scope = Scope::workspace;
  Layout layout;
};

class Summariser {
 public:
  explicit Summariser(const Program& program) {
    for (const Argument& argument : program.arguments)
      places_[argument.tensor.get()] = {Scope::workspace, argument.layout};
    for (const Prepared& prepared : program.prepared)
      places_[prepared.tensor.get()] = {Scope::workspace, prepared.layout};
    visit(program.main);
  }
  std::vector<BlockSummary> take() { return std::move(blocks_); }

 private:
  void visit(const Stmt& stmt);
  void visit_block(const Block& block);
  AccessSummary access(const Tensor& tensor, const std::vector<Affine>& index, const Substitution& bindings,
                       bool writes);
  int64_t stride_of(const Affine& offset, LoopKind kind, bool innermost_serial) const;

  std::vector<LoopLevel> loops_;
  Ranges ranges_;
  std::map<const TensorNode*, BufferPlace> places_;
  std::vector<BlockSummary> blocks_;
};

// Blocks of a device share out work as cores do, and its threads run in step as lanes do.
LoopKind as_of_processor(LoopKind kind) {
  switch (kind) {
    case LoopKind::block: return LoopKind::parallel;
    case LoopKind::thread: return LoopKind::vectorized;
    default: return kind;
  }
}

void Summariser::visit(const Stmt& stmt) {
  if (const For* loop = as<For>(stmt)) {
    const int64_t extent = std::max<int64_t>(1, largest_extent(*loop, ranges_));
    loops_.push_back({loop->var, extent, as_of_processor(loop->kind), false});
    ranges_.set_extent(loop->var, extent);
    visit(loop->body);
    loops_.pop_back();
  } else if (const Seq* seq = as<Seq>(stmt)) {
    for (const Stmt& child : seq->statements) visit(child);
  } else if (const Alloc* alloc = as<Alloc>(stmt)) {
    places_[alloc->tensor.get()] = {alloc->scope, alloc->layout};
    visit(alloc->body);
  } else if (const If* branch = as<If>(stmt)) {
    visit(branch->body);
  } else if (const Block* block = as<Block>(stmt)) {
    visit_block(*block);
  }
}

double count_operations(const Block& block) {
  double operations = block.reduction == Reduction::none ? 0 : 1;
  for_each(block.value, [&](const Expr& e) {
    if (!is_float(e.type().dtype)) return;
    if (e.as<Binary>() != nullptr) operations += 1;
    if (const Unary* unary = e.as<Unary>())
      operations += unary->op == UnaryOp::negate || unary->op == UnaryOp::abs ? 1 : 10;
  });
  return operations;
}

int64_t Summariser::stride_of(const Affine& offset, LoopKind kind, bool innermost_serial) const {
  for (size_t i = loops_.size(); i-- > 0;) {
    const LoopLevel& loop = loops_[i];
    if (loop.extent < 2) continue;
    if (innermost_serial ? loop.kind != LoopKind::serial : loop.kind != kind) continue;
    return offset.uses_inside_atom(loop.var) ? -1 : offset.coefficient(loop.var);
  }
  return 0;
}

AccessSummary Summariser::access(const Tensor& tensor, const std::vector<Affine>& index,
                                 const Substitution& bindings, bool writes) {
  AccessSummary summary;
  summary.tensor = tensor.get();
  summary.writes = writes;
  const auto place = places_.find(tensor.get());
  if (place != places_.end()) summary.in_registers = place->second.scope == Scope::registers;
  std::vector<Affine> bound;
  for (const Affine& dim : index) bound.push_back(simplify(substitute(dim, bindings), ranges_));
  const Layout layout = place != places_.end() && !place->second.layout.dims.empty()
                            ? place->second.layout
                            : Layout::row_major(index.size());
  const Affine offset = flatten(layout, tensor->shape, bound, ranges_);
  summary.vector_stride = stride_of(offset, LoopKind::vectorized, false);
  summary.inner_stride = stride_of(offset, LoopKind::serial, true);
  for (const LoopLevel& loop : loops_)
    summary.strides.push_back(offset.uses_inside_atom(loop.var) ? -1 : offset.coefficient(loop.var));
  summary.footprint.assign(loops_.size() + 1, bytes_of(tensor->dtype));
  Ranges moving;
  std::vector<int64_t> extents(bound.size(), 1);  // what the loops so far reach of each dimension
  for (size_t level = loops_.size(); level-- > 0;) {
    const LoopLevel& loop = loops_[level];
    moving.set_extent(loop.var, loop.extent);
    int64_t elements = 1;
    for (size_t dim = 0; dim < bound.size(); ++dim) {
      if (loop.extent > 1 && bound[dim].uses(loop.var)) {
        const auto side = side_of(bound[dim], moving, ranges_);
        extents[dim] =
            std::max<int64_t>(1, std::min(side ? side->extent : tensor->shape[dim], tensor->shape[dim]));
      }
      elements *= extents[dim];
    }
    summary.footprint[level] = elements * bytes_of(tensor->dtype);
  }
  return summary;
}

void Summariser::visit_block(const Block& block) {
  BlockSummary summary;
  summary.block = &block;
  summary.levels = loops_;
  Substitution bindings;
  double domain = 1;
  for (const BlockAxis& axis : block.axes) {
    bindings.emplace_back(axis.axis.var, axis.binding);
    domain *= static_cast<double>(axis.axis.extent);
  }
  for (LoopLevel& loop : summary.levels) {
    summary.instances *= static_cast<double>(loop.extent);
    loop.reduces = std::ranges::any_of(block.axes, [&](const BlockAxis& axis) {
      return axis.axis.kind == AxisKind::reduce && axis.binding.uses(loop.var);
    });
  }
  summary.useful = std::min(domain, summary.instances);
  summary.operations = count_operations(block);
  summary.accesses.push_back(access(block.output, block.output_index, bindings, true));
  for (const Load* load : loads_of(block.value)) {
    if (load->tensor->literal.empty())
      summary.accesses.push_back(access(load->tensor, load->index, bindings, false));
  }
  blocks_.push_back(std::move(summary));
}

}  // namespace

double BlockSummary::iterations(size_t first, size_t last) const {
  double product = 1;
  for (size_t i = first; i < last; ++i) product *= static_cast<double>(levels[i].extent);
  return product;
}

std::vector<BlockSummary> summarise_blocks(const Program& program) { return Summariser(program).take(); }

}  // namespace lathe
