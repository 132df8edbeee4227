// The parser of formulas (expr/parse.h).
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "expr/inputs.h"
#include "expr/parse.h"
#include "expr/print.h"

namespace lathe {
namespace {

constexpr int64_t kMaxExtent = int64_t{1} << 31;
constexpr int64_t kMaxTableElements = int64_t{1} << 20;

// The names that a bracket follows, in order of first occurrence.
std::vector<std::string> names_before_brackets(std::string_view text) {
  std::vector<std::string> names;
  TextCursor cursor(text, "");
  while (!cursor.at_end()) {
    if (!cursor.at_identifier()) {
      cursor.rewind(cursor.position() + 1);
      continue;
    }
    const Result<std::string> name = cursor.identifier();
    if (name && cursor.peek() == '[' && std::ranges::find(names, *name) == names.end()) {
      names.push_back(*name);
    }
  }
  return names;
}

// One reading of the text, given the undeclared inputs found so far; `undeclared` collects those that are
// not.
class DagReader {
 public:
  DagReader(std::string_view text, const std::string& name, std::vector<Tensor> inferred)
      : cursor_(text, name), inferred_(std::move(inferred)) {}

  Result<Dag> read() {
    while (!cursor_.at_end()) {
      if (cursor_.accept(";")) continue;
      LATHE_TRY_STATUS(statement());
    }
    dag_.inputs.insert(dag_.inputs.end(), inferred_.begin(), inferred_.end());
    if (dag_.outputs.empty()) dag_.outputs = implied_outputs(dag_.computes);
    return dag_;
  }

  const std::vector<Tensor>& undeclared() const { return undeclared_; }

 private:
  Status statement() {
    if (at_declaration("input")) return input();
    if (at_declaration("table")) return table();
    if (at_declaration("output")) return output();
    return compute();
  }

  // A keyword is one only where a name follows.
  bool at_declaration(std::string_view keyword) {
    const size_t here = cursor_.position();
    if (cursor_.accept_word(keyword) && cursor_.at_identifier()) return true;
    cursor_.rewind(here);
    return false;
  }

  Result<std::string> new_name() {
    const size_t here = cursor_.position();
    LATHE_TRY(std::string name, cursor_.identifier());
    const auto is_it = [&](const Tensor& tensor) { return tensor->name == name; };
    if (std::ranges::any_of(undeclared_, is_it) || std::ranges::any_of(inferred_, is_it)) {
      cursor_.rewind(here);
      return cursor_.error(fmt::format("'{}' is read above: give it before it is read", name));
    }
    if (find(name).defined()) {
      cursor_.rewind(here);
      return cursor_.error(fmt::format("there are two tensors named '{}'", name));
    }
    return name;
  }

  Result<int64_t> extent() {
    LATHE_TRY(const int64_t value, cursor_.integer());
    if (value >= 1 && value <= kMaxExtent) return value;
    return cursor_.error(fmt::format("an extent is 1 to {}, not {}", kMaxExtent, value));
  }

  Result<std::vector<int64_t>> shape() {
    LATHE_TRY_STATUS(cursor_.expect("["));
    std::vector<int64_t> extents;
    while (!cursor_.accept("]")) {
      if (!extents.empty()) LATHE_TRY_STATUS(cursor_.expect_comma("]"));
      LATHE_TRY(const int64_t value, extent());
      extents.push_back(value);
    }
    return extents;
  }

  // A word that begins no statement: neither a declaration nor a compute, which a bracket follows.
  bool at_type() {
    if (!cursor_.at_identifier()) return false;
    const size_t here = cursor_.position();
    const bool is_declaration =
        at_declaration("input") || at_declaration("table") || at_declaration("output");
    cursor_.rewind(here);
    const bool found = !is_declaration && cursor_.identifier() && cursor_.peek() != '[';
    cursor_.rewind(here);
    return found;
  }

  Status input() {
    LATHE_TRY(std::string name, new_name());
    LATHE_TRY(std::vector<int64_t> extents, shape());
    DType dtype = DType::f32;
    if (at_type()) {
      const size_t here = cursor_.position();
      LATHE_TRY(const std::string word, cursor_.identifier());
      const Result<DType> type = parse_dtype(word);
      cursor_.rewind(type ? cursor_.position() : here);
      if (!type) return cursor_.error(type.error().message);
      dtype = *type;
    }
    dag_.inputs.emplace_back(std::move(name), std::move(extents), dtype);
    return {};
  }

  Status table() {
    LATHE_TRY(std::string name, new_name());
    LATHE_TRY(std::vector<int64_t> extents, shape());
    int64_t elements = 1;
    for (const int64_t value : extents) {
      if (value > kMaxTableElements / elements) {
        return cursor_.error(fmt::format("a table has at most {} elements", kMaxTableElements));
      }
      elements *= value;
    }
    LATHE_TRY_STATUS(cursor_.expect("="));
    LATHE_TRY_STATUS(cursor_.expect("{"));
    std::vector<double> values;
    while (!cursor_.accept("}")) {
      if (!values.empty()) LATHE_TRY_STATUS(cursor_.expect_comma("}"));
      LATHE_TRY(const double value, cursor_.number());
      values.push_back(value);
    }
    if (static_cast<int64_t>(values.size()) != elements) {
      return cursor_.error(fmt::format("table '{}' needs {} values, not {}", name, elements, values.size()));
    }
    tables_.push_back(Tensor::literal(std::move(name), std::move(extents), std::move(values)));
    return {};
  }

  Status output() {
    LATHE_TRY(const std::string name, cursor_.identifier());
    const auto found = std::ranges::find_if(
        dag_.computes, [&](const Compute& compute) { return compute.output->name == name; });
    if (found == dag_.computes.end())
      return cursor_.error(fmt::format("output '{}' is not computed above", name));
    dag_.outputs.push_back(found->output);
    return {};
  }

  // "i:4, j:5" up to the closing bracket.
  Status axes(AxisKind kind, std::string_view close, std::vector<Axis>& axes) {
    for (bool first = true; !cursor_.accept(close); first = false) {
      if (!first) LATHE_TRY_STATUS(cursor_.expect_comma(close));
      LATHE_TRY(std::string name, cursor_.identifier());
      LATHE_TRY_STATUS(cursor_.expect(":"));
      LATHE_TRY(const int64_t value, extent());
      axes.push_back({Var(std::move(name)), value, kind});
    }
    return {};
  }

  // "max(r:10)" reduces, "max(a, b)" does not.
  Result<Reduction> reduction() {
    if (!cursor_.at_identifier()) return Reduction::none;
    const size_t here = cursor_.position();
    const Result<std::string> word = cursor_.identifier();
    const bool opens = word && cursor_.accept("(");
    const size_t axes = cursor_.position();
    const bool reduces = opens && cursor_.identifier() && cursor_.peek() == ':';
    cursor_.rewind(reduces ? axes : here);
    if (!reduces) return Reduction::none;
    for (const Reduction value : {Reduction::sum, Reduction::max, Reduction::min, Reduction::product}) {
      if (*word == to_string(value)) return value;
    }
    cursor_.rewind(here);
    return cursor_.error(fmt::format("there is no reduction '{}'; there are sum, max, min, product", *word));
  }

  Status compute() {
    const size_t begin = cursor_.position();
    LATHE_TRY(std::string name, new_name());
    Compute compute;
    LATHE_TRY_STATUS(cursor_.expect("["));
    LATHE_TRY_STATUS(axes(AxisKind::spatial, "]", compute.axes));
    LATHE_TRY_STATUS(cursor_.expect("="));
    std::vector<int64_t> extents;
    for (const Axis& axis : compute.axes) extents.push_back(axis.extent);
    LATHE_TRY(compute.reduction, reduction());
    if (compute.reduction != Reduction::none) {
      LATHE_TRY_STATUS(axes(AxisKind::reduce, ")", compute.axes));
    }
    LATHE_TRY(compute.body, body(compute));
    if (compute.reduction != Reduction::none) compute.body = widened(compute.body);
    if (find(name).defined()) {
      cursor_.rewind(begin);
      return cursor_.error(
          fmt::format("'{}' reads itself: it may read inputs and what is computed above it", name));
    }
    compute.output = Tensor(std::move(name), std::move(extents), compute.body.type().dtype);
    dag_.computes.push_back(std::move(compute));
    return {};
  }

  Result<Expr> body(const Compute& compute) {
    ExprNames names;
    names.ranges = ranges_of(compute);
    names.variable = [&](const std::string& name) {
      const auto found =
          std::ranges::find_if(compute.axes, [&](const Axis& axis) { return axis.var.name() == name; });
      return found == compute.axes.end() ? Expr() : Expr(found->var);
    };
    names.tensor = [&](const std::string& name, size_t rank, bool inside_index) {
      if (const Tensor known = find(name); known.defined()) return known;
      return undeclared_.emplace_back(name, std::vector<int64_t>(rank, 1),
                                      inside_index ? DType::i32 : DType::f32);
    };
    return parse_expr(cursor_, names);
  }

  Tensor find(const std::string& name) const {
    const auto named = [&](const Tensor& tensor) { return tensor->name == name; };
    for (const std::vector<Tensor>* list : {&dag_.inputs, &tables_, &inferred_, &undeclared_}) {
      const auto found = std::ranges::find_if(*list, named);
      if (found != list->end()) return *found;
    }
    const auto found = std::ranges::find_if(dag_.computes, named, &Compute::output);
    return found == dag_.computes.end() ? Tensor() : found->output;
  }

  TextCursor cursor_;
  std::vector<Tensor> inferred_;
  std::vector<Tensor> undeclared_;
  std::vector<Tensor> tables_;
  Dag dag_;
};

// The undeclared tensors with the shapes that their largest indices imply, in order of occurrence.
Result<std::vector<Tensor>> infer(std::string_view text, const std::string& name, const Dag& dag,
                                  const std::vector<Tensor>& undeclared) {
  const std::vector<ImpliedInput> implied = implied_inputs(dag.computes);
  std::vector<Tensor> inputs;
  for (const std::string& word : names_before_brackets(text)) {
    const auto tensor =
        std::ranges::find_if(undeclared, [&](const Tensor& tensor) { return tensor->name == word; });
    if (tensor == undeclared.end()) continue;
    const auto found = std::ranges::find(implied, *tensor, &ImpliedInput::tensor);
    const bool is_known = found != implied.end() &&
                          std::ranges::all_of(found->shape, [](const auto& e) { return e.has_value(); });
    if (!is_known) {
      return fail(ErrorKind::parse,
                  fmt::format("the shape of '{}' does not follow from its indices: declare it as in "
                              "'input {}[8, 8]'",
                              word, word),
                  name);
    }
    std::vector<int64_t> shape;
    for (const std::optional<int64_t>& extent : found->shape) shape.push_back(std::max<int64_t>(*extent, 1));
    inputs.emplace_back(word, std::move(shape), (*tensor)->dtype);
  }
  return inputs;
}

}  // namespace

Result<Dag> parse_dag(std::string_view text, const std::string& name) {
  DagReader first(text, name, {});
  LATHE_TRY(Dag dag, first.read());
  if (!first.undeclared().empty()) {
    LATHE_TRY(std::vector<Tensor> inferred, infer(text, name, dag, first.undeclared()));
    LATHE_TRY(dag, DagReader(text, name, std::move(inferred)).read());
  }
  if (Status status = verify(dag); !status) {
    status.error().where = name;
    return std::unexpected(std::move(status.error()));
  }
  return dag;
}

}  // namespace lathe
