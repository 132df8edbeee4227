#include "graph/operators/einsum.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>

#include "graph/onnx/node.h"

namespace lathe {
namespace {

using Labels = EinsumOp::Labels;

bool contains(const Labels& labels, size_t label) { return std::ranges::find(labels, label) != labels.end(); }

size_t count_labels(const EinsumOp& op) {
  size_t count = 0;
  for (const Labels& labels : op.operands)
    for (const size_t label : labels) count = std::max(count, label + 1);
  return count;
}

// The places that each label has in all of these; 1 where it does not occur.
Result<Shape> extents_of(const EinsumOp& op, const std::vector<Shape>& shapes) {
  Shape extents(count_labels(op), 1);
  for (size_t i = 0; i < shapes.size(); ++i) {
    for (size_t d = 0; d < shapes[i].size(); ++d) {
      int64_t& extent = extents[op.operands[i][d]];
      if (extent != 1 && shapes[i][d] != 1 && extent != shapes[i][d]) {
        return fail(ErrorKind::invalid_argument,
                    fmt::format("axis {} of operand {}, {}, runs together with one of {} places", d, i,
                                to_string(shapes[i]), extent));
      }
      extent = std::max(extent, shapes[i][d]);
    }
  }
  return extents;
}

template <class Operand>
std::vector<Shape> shapes_of(std::span<const Operand> operands) {
  std::vector<Shape> shapes;
  for (const Operand& operand : operands) {
    if constexpr (requires { operand.shape; }) {
      shapes.push_back(operand.shape);
    } else {
      shapes.push_back(operand->shape);
    }
  }
  return shapes;
}

Shape shape_of(const Labels& labels, const Shape& extents) {
  Shape shape;
  for (const size_t label : labels) shape.push_back(extents[label]);
  return shape;
}

// Where an operand stands at an index of all labels.
int64_t offset_at(const Labels& labels, const Shape& shape, const Shape& index) {
  return broadcast_offset(shape, shape_of(labels, index));
}

// A factor of the product in the making: an operand, or the product of several.
struct Factor {
  Tensor tensor;
  Labels labels;
};

// One compute of the product of one or two factors.
class ProductOf {
 public:
  ProductOf(std::vector<Factor> factors, Labels result)
      : factors_(std::move(factors)), result_(std::move(result)) {}

  Factor compute(DagBuilder& builder) {
    std::vector<Axis> axes;
    for (const size_t label : result_) axes.push_back(axis_of_label(label, false));
    std::vector<Axis> over;
    for (const Factor& factor : factors_) {
      for (const size_t label : factor.labels)
        if (!axes_.contains(label)) over.push_back(axis_of_label(label, true));
    }
    Expr body = element(factors_[0]);
    for (size_t i = 1; i < factors_.size(); ++i) body = body * element(factors_[i]);
    const std::string name = builder.fresh_name("product");
    const Tensor tensor =
        over.empty() ? builder.compute(name, axes, body) : builder.compute(name, axes, sum(over, body));
    return {tensor, result_};
  }

 private:
  Axis axis_of_label(size_t label, bool reduces) {
    int64_t extent = 1;
    for (const Factor& factor : factors_) {
      for (size_t d = 0; d < factor.labels.size(); ++d)
        if (factor.labels[d] == label) extent = std::max(extent, factor.tensor->shape[d]);
    }
    const std::string name = fmt::format("a{}", label);
    const Axis axis = reduces ? reduce(name, extent) : spatial(name, extent);
    axes_.emplace(label, axis);
    return axis;
  }

  Expr element(const Factor& factor) const {
    std::vector<Affine> index;
    for (size_t d = 0; d < factor.labels.size(); ++d) {
      const Axis& axis = axes_.at(factor.labels[d]);
      index.push_back(factor.tensor->shape[d] == axis.extent ? Affine(axis.var) : Affine(0));
    }
    return load(factor.tensor, std::move(index));
  }

  std::vector<Factor> factors_;
  Labels result_;
  std::map<size_t, Axis> axes_;
};

// The labels of these factors, each once, that the result or one of `others` has.
Labels kept_labels(const std::vector<Factor>& factors, const Labels& result, std::span<const Factor> others) {
  Labels kept;
  for (const Factor& factor : factors) {
    for (const size_t label : factor.labels) {
      const bool is_read =
          std::ranges::any_of(others, [&](const Factor& other) { return contains(other.labels, label); });
      if (!contains(kept, label) && (is_read || contains(result, label))) kept.push_back(label);
    }
  }
  return kept;
}

// The terms of an equation: the operands', and the result's where it has one.
struct Equation {
  std::vector<std::string> operands;
  std::optional<std::string> result;
};

constexpr char kEllipsis = '.';  // a term has it once for the three

// A term with one character for each label and for the ellipsis; none where it has something else.
std::optional<std::string> term_of(std::string_view text) {
  std::string term;
  for (size_t i = 0; i < text.size(); ++i) {
    if (std::isalpha(static_cast<unsigned char>(text[i])) != 0) {
      term += text[i];
    } else if (text.substr(i, 3) == "..." && term.find(kEllipsis) == std::string::npos) {
      term += kEllipsis;
      i += 2;
    } else {
      return std::nullopt;
    }
  }
  return term;
}

Result<Equation> parse_equation(std::string text) {
  const auto refuse = [&](const std::string& term) {
    return fail(ErrorKind::invalid_argument,
                fmt::format("the equation '{}' has the term '{}', which is no list of letters with at most "
                            "one ellipsis",
                            text, term));
  };
  std::string bare = text;
  std::erase(bare, ' ');
  Equation equation;
  const size_t arrow = bare.find("->");
  if (arrow != std::string::npos) {
    equation.result = term_of(bare.substr(arrow + 2));
    if (!equation.result) return refuse(bare.substr(arrow + 2));
    bare.resize(arrow);
  }
  for (size_t start = 0; start <= bare.size();) {
    const size_t comma = std::min(bare.find(',', start), bare.size());
    const std::optional<std::string> term = term_of(bare.substr(start, comma - start));
    if (!term) return refuse(bare.substr(start, comma - start));
    equation.operands.push_back(*term);
    start = comma + 1;
  }
  return equation;
}

// Without a result of its own: the ellipsis, then in alphabetical order what occurs once.
std::string implicit_result(const Equation& equation) {
  std::map<char, int> counts;
  for (const std::string& term : equation.operands)
    for (const char label : term) ++counts[label];
  std::string result;
  if (counts.contains(kEllipsis)) result += kEllipsis;
  for (const auto& [label, count] : counts)
    if (label != kEllipsis && count == 1) result += label;
  return result;
}

// Numbers labels: the axes of the ellipses from the last one on, then letters as they come.
class Numbering {
 public:
  explicit Numbering(size_t ellipsis) : ellipsis_(ellipsis) {}

  // The labels of a term of which the ellipsis stands for so many axes.
  Labels labels_of(const std::string& term, size_t covered) {
    Labels labels;
    for (const char label : term) {
      if (label == kEllipsis) {
        for (size_t back = covered; back-- > 0;) labels.push_back(back);
      } else {
        labels.push_back(numbers_.emplace(label, ellipsis_ + numbers_.size()).first->second);
      }
    }
    return labels;
  }
  bool knows(char label) const { return label == kEllipsis || numbers_.contains(label); }

 private:
  size_t ellipsis_;
  std::map<char, size_t> numbers_;
};

// How many axes an ellipsis of the term stands for.
Result<size_t> covered_axes(const std::string& term, size_t operand, const Shape& shape) {
  const bool has_ellipsis = term.find(kEllipsis) != std::string::npos;
  const size_t named = term.size() - (has_ellipsis ? 1 : 0);
  if (named == shape.size() || (has_ellipsis && named < shape.size())) return shape.size() - named;
  return fail(ErrorKind::invalid_argument, fmt::format("operand {}, {}, has other axes than its {} letters",
                                                       operand, to_string(shape), named));
}

}  // namespace

std::string attributes_of(const EinsumOp& op) {
  std::string text;
  for (const Labels& labels : op.operands)
    text += fmt::format("{}[{}]", text.empty() ? "" : ", ", fmt::join(labels, ","));
  return text + fmt::format(" to [{}]", fmt::join(op.result, ","));
}

Result<TensorType> infer(const EinsumOp& op, std::span<const TensorType> inputs) {
  LATHE_TRY_STATUS(require_reals(inputs));
  bool fits = op.operands.size() == inputs.size();
  for (size_t i = 0; fits && i < inputs.size(); ++i) fits = op.operands[i].size() == inputs[i].shape.size();
  if (!fits)
    return fail(ErrorKind::invalid_argument, fmt::format("{} are not its operands", attributes_of(op)));
  LATHE_TRY(const Shape extents, extents_of(op, shapes_of(inputs)));
  for (const size_t label : op.result) {
    if (label < extents.size() && std::ranges::count(op.result, label) == 1) continue;
    return fail(
        ErrorKind::invalid_argument,
        fmt::format("its result has a label twice, or one that no operand has: {}", attributes_of(op)));
  }
  return TensorType{inputs[0].dtype, shape_of(op.result, extents)};
}

Values evaluate(const EinsumOp& op, std::span<const Values> inputs) {
  const std::vector<Shape> shapes = shapes_of(inputs);
  const Shape extents = *extents_of(op, shapes);
  Values result{shape_of(op.result, extents), {}};
  result.data.assign(static_cast<size_t>(elements_of(result.shape)), 0);
  Shape index(extents.size(), 0);
  do {
    double product = 1;
    for (size_t i = 0; i < inputs.size(); ++i)
      product *= inputs[i].data[static_cast<size_t>(offset_at(op.operands[i], shapes[i], index))];
    result.data[static_cast<size_t>(offset_at(op.result, result.shape, index))] += product;
  } while (next_index(index, extents));
  return result;
}

double steps_of(const EinsumOp& op, std::span<const TensorType> inputs) {
  const Shape extents = *extents_of(op, shapes_of(inputs));
  double steps = 8;
  for (const int64_t extent : extents) steps *= static_cast<double>(extent);
  return steps;
}

// From left to right by products of two, each summed over what nothing reads behind it; what one operand
// alone has is summed before.
Tensor lower(const EinsumOp& op, DagBuilder& builder, std::span<const Tensor> operands) {
  std::vector<Factor> factors;
  for (size_t i = 0; i < operands.size(); ++i) factors.push_back({operands[i], op.operands[i]});
  for (size_t i = 0; factors.size() > 1 && i < factors.size(); ++i) {
    std::vector<Factor> others = factors;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
    const Labels kept = kept_labels({factors[i]}, op.result, others);
    const bool is_summed =
        std::ranges::any_of(factors[i].labels, [&](size_t label) { return !contains(kept, label); });
    if (is_summed) factors[i] = ProductOf({factors[i]}, kept).compute(builder);
  }
  Factor product = factors[0];
  if (factors.size() == 1) return ProductOf({product}, op.result).compute(builder).tensor;
  for (size_t i = 1; i < factors.size(); ++i) {
    const std::vector<Factor> pair = {product, factors[i]};
    const bool is_last = i + 1 == factors.size();
    const Labels kept = is_last ? op.result : kept_labels(pair, op.result, std::span(factors).subspan(i + 1));
    product = ProductOf(pair, kept).compute(builder);
  }
  return product.tensor;
}

Result<EinsumOp> import_einsum(OnnxNode& node) {
  if (!node.has("equation")) return fail(ErrorKind::invalid_argument, "it lacks the attribute 'equation'");
  LATHE_TRY(const Equation equation, parse_equation(node.text("equation", "")));
  if (equation.operands.size() != node.input_count()) {
    return fail(ErrorKind::invalid_argument, fmt::format("its equation has {} operands, and it has {}",
                                                         equation.operands.size(), node.input_count()));
  }
  std::vector<size_t> covered;
  size_t ellipsis = 0;
  for (size_t i = 0; i < equation.operands.size(); ++i) {
    LATHE_TRY(const size_t axes, covered_axes(equation.operands[i], i, node.shape(i)));
    covered.push_back(axes);
    ellipsis = std::max(ellipsis, axes);
  }
  Numbering numbering(ellipsis);
  EinsumOp op;
  for (size_t i = 0; i < covered.size(); ++i)
    op.operands.push_back(numbering.labels_of(equation.operands[i], covered[i]));
  const std::string result = equation.result.value_or(implicit_result(equation));
  for (const char label : result) {
    if (numbering.knows(label)) continue;
    return fail(ErrorKind::invalid_argument, fmt::format("its result has '{}', which no operand has", label));
  }
  if (ellipsis > 0 && result.find(kEllipsis) == std::string::npos) {
    return fail(ErrorKind::unsupported,
                "its operands have ellipses and its result none, and Lathe supports sums over letters alone");
  }
  op.result = numbering.labels_of(result, ellipsis);
  return op;
}

}  // namespace lathe
