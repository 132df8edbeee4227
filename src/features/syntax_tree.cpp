#include "features/syntax_tree.h"

#include <algorithm>
#include <utility>

#include "base/hash.h"
#include "features/named_row.h"
#include "loop/walk.h"

namespace lathe {
namespace {

enum class What : size_t { loop, statement, read, written, variable };
constexpr size_t kWhats = 5;
constexpr size_t kLoopKinds = 7;  // of loops
constexpr size_t kFirstWhat = 1;
constexpr size_t kLength = kFirstWhat + kWhats;
constexpr size_t kFirstKind = kLength + 1;

class SyntaxWalker {
 public:
  std::vector<SyntaxNode> walk(const Program& program) {
    visit(program.main, -1);
    return std::move(nodes_);
  }

 private:
  int add(int parent, What what, const std::string& identifier) {
    SyntaxNode node{parent, std::vector<float>(kFirstKind + kLoopKinds, 0.0F)};
    node.numbers[0] = static_cast<float>(hash_text(identifier) % kIdentifiers);
    node.numbers[kFirstWhat + static_cast<size_t>(what)] = 1;
    nodes_.push_back(std::move(node));
    return static_cast<int>(nodes_.size()) - 1;
  }

  void visit(const Stmt& stmt, int parent) {
    if (const For* loop = as<For>(stmt)) {
      visit_loop(*loop, parent);
    } else if (const Seq* seq = as<Seq>(stmt)) {
      for (const Stmt& child : seq->statements) visit(child, parent);
    } else if (const Alloc* alloc = as<Alloc>(stmt)) {
      visit(alloc->body, parent);
    } else if (const If* branch = as<If>(stmt)) {
      visit(branch->body, parent);
    } else if (const Block* block = as<Block>(stmt)) {
      visit_block(*block, parent);
    }
  }

  void visit_loop(const For& loop, int parent) {
    const int64_t extent = std::max<int64_t>(1, largest_extent(loop, ranges_));
    ranges_.set_extent(loop.var, extent);
    const int own = add(parent, What::loop, loop.var.name());
    std::vector<float>& numbers = nodes_[static_cast<size_t>(own)].numbers;
    numbers[kLength] = log_of_one_more(static_cast<double>(extent));
    numbers[kFirstKind + static_cast<size_t>(loop.kind)] = 1;
    loops_.push_back(loop.var);
    visit(loop.body, own);
    loops_.pop_back();
  }

  void visit_block(const Block& block, int parent) {
    Substitution bindings;
    for (const BlockAxis& axis : block.axes) bindings.emplace_back(axis.axis.var, axis.binding);
    const int own = add(parent, What::statement, block.name);
    add_access(own, What::written, block.output, block.output_index, bindings);
    for (const Load* load : loads_of(block.value))
      if (load->tensor->literal.empty()) add_access(own, What::read, load->tensor, load->index, bindings);
  }

  void add_access(int parent, What what, const Tensor& tensor, const std::vector<Affine>& index,
                  const Substitution& bindings) {
    const int own = add(parent, what, tensor->name);
    for (const Affine& dim : index) {
      const Affine bound = substitute(dim, bindings);
      for (const Var& var : loops_)
        if (bound.uses(var)) add(own, What::variable, var.name());
    }
  }

  std::vector<SyntaxNode> nodes_;
  std::vector<Var> loops_;
  Ranges ranges_;
};

}  // namespace

const std::vector<std::string>& syntax_node_names() {
  static const std::vector<std::string> names = {
      "identifier", "loop",        "statement",     "read",        "written",       "variable", "length",
      "is_serial",  "is_unrolled", "is_vectorized", "is_parallel", "is_tensorized", "is_block", "is_thread"};
  return names;
}

std::vector<SyntaxNode> syntax_tree(const Program& program) { return SyntaxWalker().walk(program); }

}  // namespace lathe
