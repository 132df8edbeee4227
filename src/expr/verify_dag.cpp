// The checks that every Dag passes (expr/dag.h).
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>

#include "expr/inputs.h"
#include "expr/print.h"
#include "expr/reads.h"
#include "expr/walk.h"

namespace lathe {
namespace {

// Above these, counts of iterations, operations and bytes could leave 64 bits.
constexpr double kMaxIterations = 281474976710656.0;  // 2^48
constexpr int64_t kLargestExtent = int64_t{1} << 31;

std::unexpected<Error> invalid(std::string message) {
  return fail(ErrorKind::invalid_argument, std::move(message));
}

// Words of the text form that stand where an axis may.
bool is_reserved_axis_name(std::string_view name) {
  constexpr std::array<std::string_view, 4> kWords = {"inf", "nan", "true", "false"};
  return std::ranges::find(kWords, name) != kWords.end();
}

class Verifier {
 public:
  explicit Verifier(const Dag& dag) : dag_(dag) {}

  Status run() {
    for (const Tensor& input : dag_.inputs) {
      LATHE_TRY_STATUS(add_name(input));
      LATHE_TRY_STATUS(check_extents(fmt::format("input '{}'", input->name), input->shape));
      known_.push_back(input);
    }
    for (const Compute& compute : dag_.computes) {
      LATHE_TRY_STATUS(add_name(compute.output));
      what_ = fmt::format("compute '{}'", compute.output->name);
      LATHE_TRY_STATUS(check_axes(compute));
      LATHE_TRY_STATUS(check_body(compute));
      LATHE_TRY_STATUS(check_reads(compute));
      known_.push_back(compute.output);
    }
    return check_outputs();
  }

 private:
  Status add_name(const Tensor& tensor) {
    const std::string& name = tensor->name;
    if (!is_identifier(name)) {
      return invalid(fmt::format(
          "'{}' is no name for a tensor: letters, digits, '_' and '.', a letter or '_' first", name));
    }
    if (std::ranges::find(names_, name) != names_.end()) {
      return invalid(fmt::format("there are two tensors named '{}'", name));
    }
    names_.push_back(name);
    return {};
  }

  static Status check_extents(const std::string& what, const std::vector<int64_t>& extents) {
    double count = 1;
    for (const int64_t extent : extents) {
      if (extent < 1 || extent > kLargestExtent) {
        return invalid(fmt::format("{} has extent {}; an extent is 1 to {}", what, extent, kLargestExtent));
      }
      count *= static_cast<double>(extent);
    }
    if (count > kMaxIterations) {
      return invalid(
          fmt::format("{} has {:.3g} points; at most {:.3g} can be counted", what, count, kMaxIterations));
    }
    return {};
  }

  Status check_axes(const Compute& compute) {
    std::vector<int64_t> extents;
    std::vector<int64_t> spatial_extents;
    std::vector<std::string_view> names;
    for (const Axis& axis : compute.axes) {
      const std::string& name = axis.var.name();
      if (!is_identifier(name) || is_reserved_axis_name(name)) {
        return invalid(fmt::format("{}: '{}' is no name for an axis", what_, name));
      }
      if (std::ranges::find(names, name) != names.end()) {
        return invalid(fmt::format("{} has two axes named '{}'", what_, name));
      }
      if (std::ranges::find(axes_, axis.var) != axes_.end()) {
        return invalid(fmt::format("{}: axis '{}' belongs to another compute", what_, name));
      }
      if (axis.kind == AxisKind::spatial && extents.size() != spatial_extents.size()) {
        return invalid(fmt::format("{}: spatial axis '{}' stands behind a reduce axis", what_, name));
      }
      names.push_back(name);
      axes_.push_back(axis.var);
      extents.push_back(axis.extent);
      if (axis.kind == AxisKind::spatial) spatial_extents.push_back(axis.extent);
    }
    LATHE_TRY_STATUS(check_extents(what_, extents));
    if (spatial_extents != compute.output->shape) {
      return invalid(fmt::format("{}: the spatial axes do not give the output's shape", what_));
    }
    if ((compute.reduction == Reduction::none) != (extents.size() == spatial_extents.size())) {
      return invalid(fmt::format("{}: reduce axes and a reduction need each other", what_));
    }
    return {};
  }

  Status check_body(const Compute& compute) const {
    const Type type = compute.body.type();
    if (type != Type{compute.output->dtype, 1}) {
      return invalid(fmt::format("{}: the body is {}, the output {}", what_, to_string(type),
                                 to_string(compute.output->dtype)));
    }
    if (compute.reduction != Reduction::none && type.dtype == DType::boolean) {
      return invalid(fmt::format("{} reduces bool; only numbers can be reduced", what_));
    }
    if (compute.reduction != Reduction::none && is_storage_only(type.dtype)) {
      return invalid(fmt::format("{} reduces {}, in which nothing is computed: cast the body to {}", what_,
                                 to_string(type.dtype), to_string(info_of(type.dtype).computed_in)));
    }
    std::vector<Var> vars;
    collect_vars(compute.body, vars);
    for (const Var& var : vars) {
      if (std::ranges::find(compute.axes, var, &Axis::var) == compute.axes.end()) {
        return invalid(fmt::format("{} uses '{}', which is none of its axes", what_, var.name()));
      }
    }
    LATHE_TRY_STATUS(check_functions(compute.body));
    return check_divisors(compute.body);
  }

  // Steps of polynomials are the compiler's own.
  Status check_functions(const Expr& body) const {
    std::optional<Expr> found;
    for_each(body, [&](const Expr& e) {
      const Unary* unary = e.as<Unary>();
      const bool is_step =
          unary != nullptr &&
          (unary->op == UnaryOp::pow2 || unary->op == UnaryOp::exponent || unary->op == UnaryOp::mantissa);
      if (is_step && !found) found = e;
    });
    if (!found) return {};
    return invalid(
        fmt::format("{} uses '{}', which is for compiled programs only", what_, to_string(*found)));
  }

  Status check_divisors(const Expr& body) const {
    Status status;
    for_each(body, [&](const Expr& e) {
      const Binary* binary = e.as<Binary>();
      if (binary == nullptr || is_float(e.type().dtype)) return;
      if (binary->op != BinaryOp::div && binary->op != BinaryOp::mod) return;
      const Affine divisor = to_affine(binary->b);
      if (status.has_value() && divisor.is_constant() && divisor.constant() <= 0) {
        status = invalid(fmt::format("{}: of constants only positive ones divide integers, not '{}'", what_,
                                     to_string(binary->b)));
      }
    });
    return status;
  }

  Status check_reads(const Compute& compute) {
    const Ranges ranges = ranges_of(compute);
    for (const Read& read : reads_of(compute.body)) {
      const Tensor& tensor = read.load->tensor;
      if (!tensor->literal.empty() && std::ranges::find(known_, tensor) == known_.end()) {
        LATHE_TRY_STATUS(add_name(tensor));
        LATHE_TRY_STATUS(check_extents(fmt::format("table '{}'", tensor->name), tensor->shape));
        known_.push_back(tensor);
      }
      if (std::ranges::find(known_, tensor) == known_.end()) {
        return invalid(
            fmt::format("{} reads '{}', which is neither an input nor computed before", what_, tensor->name));
      }
      const size_t rank = tensor->shape.size();
      if (read.load->index.size() != rank) {
        return invalid(fmt::format("{} reads '{}' with {} indices; it has {} dimension{}", what_,
                                   tensor->name, read.load->index.size(), rank, rank == 1 ? "" : "s"));
      }
      for (size_t d = 0; d < tensor->shape.size(); ++d) {
        LATHE_TRY_STATUS(check_index(read, d, ranges));
      }
    }
    return {};
  }

  Status check_index(const Read& read, size_t d, const Ranges& ranges) const {
    const Tensor& tensor = read.load->tensor;
    const Reach reach = reach_of(read.load->index[d], ranges, read.facts);
    const bool below = reach.lo && *reach.lo < 0;
    const bool above = reach.hi && *reach.hi >= tensor->shape[d];
    if (!below && !above) return {};
    return invalid(
        fmt::format("{} reads outside of '{}': {} reaches {} in dimension {}, which has {} elements", what_,
                    tensor->name, to_string(*read.load), below ? *reach.lo : *reach.hi, d, tensor->shape[d]));
  }

  Status check_outputs() const {
    if (dag_.outputs.empty()) return invalid("nothing is computed: there is no output");
    for (auto output = dag_.outputs.begin(); output != dag_.outputs.end(); ++output) {
      if (dag_.producer(*output) == nullptr) {
        return invalid(fmt::format("output '{}' is not computed", (*output)->name));
      }
      if (std::find(dag_.outputs.begin(), output, *output) != output) {
        return invalid(fmt::format("'{}' is an output twice", (*output)->name));
      }
    }
    for (const Tensor& unread : implied_outputs(dag_.computes)) {
      if (!dag_.is_output(unread)) {
        return invalid(fmt::format("compute '{}' is neither read nor an output", unread->name));
      }
    }
    return {};
  }

  const Dag& dag_;
  std::string what_;
  std::vector<std::string> names_;
  std::vector<Tensor> known_;  // what may be read
  std::vector<Var> axes_;
};

}  // namespace

bool is_identifier(std::string_view text) {
  const auto is_letter = [](char c) { return std::isalpha(static_cast<unsigned char>(c)) || c == '_'; };
  const auto is_word = [&](char c) {
    return is_letter(c) || std::isdigit(static_cast<unsigned char>(c)) || c == '.';
  };
  return !text.empty() && is_letter(text[0]) && std::ranges::all_of(text, is_word);
}

Status verify(const Dag& dag) { return Verifier(dag).run(); }

}  // namespace lathe
