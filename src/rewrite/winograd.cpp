#include "rewrite/winograd.h"

#include <fmt/format.h>

#include "rewrite/image_form.h"
#include "rewrite/match.h"

namespace lathe {
namespace {

std::unexpected<Error> refuse(const std::string& stage, const std::string& reason) {
  return fail(ErrorKind::illegal_schedule, fmt::format("winograd does not apply to '{}': {}", stage, reason));
}

// The finite points, n - 1 of them. For F(4,3) the pair 5/8, 3/2 keeps three times the accuracy of 1, 2.
Result<std::vector<double>> points_for(int64_t m, int64_t r) {
  const size_t count = static_cast<size_t>(m + r - 2);
  std::vector<double> points;
  switch (m) {
    case 2: points = {0, 1, -1, 2, -2}; break;
    case 4: points = {0, 0.625, -0.625, 1.5, -1.5, 1, -1}; break;
    case 6: points = {0, 1, -1, 2, -2, 0.5, -0.5, 1.5, -1.5}; break;
    default: break;
  }
  if (points.size() < count || r < 2) {
    return fail(ErrorKind::illegal_schedule, fmt::format("there are no Winograd tables for F({}, {})", m, r));
  }
  points.resize(count);
  return points;
}

// The coefficients, lowest first, of the product of (x - point) over all points but one (skip = size: over
// all).
std::vector<double> polynomial(const std::vector<double>& points, size_t skip) {
  std::vector<double> coefficients = {1};
  for (size_t l = 0; l < points.size(); ++l) {
    if (l == skip) continue;
    std::vector<double> next(coefficients.size() + 1, 0);
    for (size_t k = 0; k < coefficients.size(); ++k) {
      next[k + 1] += coefficients[k];
      next[k] -= points[l] * coefficients[k];
    }
    coefficients = std::move(next);
  }
  return coefficients;
}

double power(double base, int64_t exponent) {
  double value = 1;
  for (int64_t i = 0; i < exponent; ++i) value *= base;
  return value;
}

struct Geometry {
  int64_t m, n, r;
  int64_t batch, rows, columns;  // images, tiles down, tiles across
  int64_t channels, features;
  int64_t height, width;  // of the output
};

// What the computes below share: names, tables, tile arithmetic.
struct Builder {
  std::string name;
  Geometry g;
  Tensor data_table, weight_table, output_table;

  Compute compute(const std::string& suffix, std::vector<Axis> axes, Reduction reduction, Expr body) const {
    std::vector<int64_t> shape;
    for (const Axis& axis : axes) {
      if (axis.kind == AxisKind::spatial) shape.push_back(axis.extent);
    }
    return {Tensor(name + suffix, shape), std::move(axes), reduction, std::move(body)};
  }

  Compute weights(const Tensor& w) const {
    const Axis i = spatial("i", g.n), j = spatial("j", g.n), c = spatial("c", g.channels),
               f = spatial("f", g.features);
    const Axis a = reduce("a", g.r), b = reduce("b", g.r);
    return compute(".U", {i, j, c, f, a, b}, Reduction::sum,
                   weight_table(i, a) * weight_table(j, b) * w(f, c, a, b));
  }

  // The columns of the data tile p: rows of the table times the rows of the image.
  Compute data_columns(const Tensor& d) const {
    const Axis p = spatial("p", g.batch * g.rows * g.columns), c = spatial("c", g.channels);
    const Axis i = spatial("i", g.n), b = spatial("b", g.n), a = reduce("a", g.n);
    const Expr image = Expr(p) / Expr(g.rows * g.columns);
    const Expr y = Expr(p) / Expr(g.columns) % Expr(g.rows) * Expr(g.m) + a;
    const Expr x = Expr(p) % Expr(g.columns) * Expr(g.m) + b;
    Expr value = d(image, c, y, x);
    // The last tiles may reach over the image: nothing of them is ever copied out.
    const int64_t over_y = g.rows * g.m + g.r - 1 - d->shape[2];
    const int64_t over_x = g.columns * g.m + g.r - 1 - d->shape[3];
    if (over_y > 0) value = select(y < Expr(d->shape[2]), value, Expr(0.0));
    if (over_x > 0) value = select(x < Expr(d->shape[3]), value, Expr(0.0));
    return compute(".V1", {p, c, i, b, a}, Reduction::sum, data_table(i, a) * value);
  }

  Compute data(const Tensor& v1) const {
    const Axis i = spatial("i", g.n), j = spatial("j", g.n);
    const Axis p = spatial("p", v1->shape[0]), c = spatial("c", g.channels), b = reduce("b", g.n);
    return compute(".V", {i, j, p, c, b}, Reduction::sum, data_table(j, b) * v1(p, c, i, b));
  }

  Compute product(const Tensor& v, const Tensor& u) const {
    const Axis i = spatial("i", g.n), j = spatial("j", g.n);
    const Axis p = spatial("p", v->shape[2]), f = spatial("f", g.features), c = reduce("c", g.channels);
    return compute(".M", {i, j, p, f, c}, Reduction::sum, v(i, j, p, c) * u(i, j, c, f));
  }

  Compute output_rows(const Tensor& m) const {
    const Axis p = spatial("p", m->shape[2]), f = spatial("f", g.features);
    const Axis u = spatial("u", g.m), j = spatial("j", g.n), i = reduce("i", g.n);
    return compute(".Y1", {p, f, u, j, i}, Reduction::sum, output_table(u, i) * m(i, j, p, f));
  }

  Compute output(const Tensor& y1) const {
    const Axis p = spatial("p", y1->shape[0]), f = spatial("f", g.features);
    const Axis u = spatial("u", g.m), v = spatial("v", g.m), j = reduce("j", g.n);
    return compute(".Y", {p, f, u, v, j}, Reduction::sum, output_table(v, j) * y1(p, f, u, j));
  }

  // Back to the image: pixel (y, x) lies in tile (y / m, x / m).
  Compute untile(const Tensor& result, const Tensor& y4) const {
    const Axis n = spatial("n", g.batch), f = spatial("f", g.features);
    const Axis y = spatial("y", g.height), x = spatial("x", g.width);
    // A single row or column of tiles has no number, so that schedules can tell y and x from the index.
    const Expr row = g.rows == 1 ? Expr(0) : Expr(y) / Expr(g.m);
    const Expr column = g.columns == 1 ? Expr(0) : Expr(x) / Expr(g.m);
    const Expr tile = (Expr(n) * Expr(g.rows) + row) * Expr(g.columns) + column;
    const Expr v = g.rows == 1 ? Expr(y) : Expr(y) % Expr(g.m);
    const Expr u = g.columns == 1 ? Expr(x) : Expr(x) % Expr(g.m);
    return {result, {n, f, y, x}, Reduction::none, y4(tile, f, v, u)};
  }
};

// The operands' indices must be those of an NCHW convolution: D[n, c, y+i, x+j], W[f, c, i, j].
bool is_image_convolution(const Compute& compute, const WindowedProduct& match) {
  if (match.windows.size() != 2 || match.channels.size() != 1 || compute.spatial_count() != 4) return false;
  if (match.data.index.size() != 4 || match.weight.index.size() != 4) return false;
  const auto axis = [&](size_t i) { return Affine(compute.axes[i].var); };
  return match.windows[0].output_dim == 2 && match.windows[1].output_dim == 3 &&
         match.windows[0].data_dim == 2 && match.windows[1].data_dim == 3 &&
         match.windows[0].weight_dim == 2 && match.windows[1].weight_dim == 3 &&
         match.weight.index[2] == axis(match.windows[0].reduce_axis) &&
         match.weight.index[3] == axis(match.windows[1].reduce_axis) && match.data.index[0] == axis(0) &&
         match.data.index[1] == axis(match.channels[0]) && match.weight.index[0] == axis(1) &&
         match.weight.index[1] == axis(match.channels[0]);
}

}  // namespace

Result<WinogradTables> winograd_tables(int64_t m, int64_t r) {
  LATHE_TRY(const std::vector<double> points, points_for(m, r));
  const size_t n = points.size() + 1;
  WinogradTables tables;
  tables.data.assign(n * n, 0);
  tables.weight.assign(n * static_cast<size_t>(r), 0);
  tables.output.assign(static_cast<size_t>(m) * n, 0);
  for (size_t j = 0; j + 1 < n; ++j) {
    double scale = 1;
    for (size_t l = 0; l + 1 < n; ++l) scale *= l == j ? 1 : points[j] - points[l];
    const std::vector<double> row = polynomial(points, j);
    for (size_t k = 0; k < row.size(); ++k) tables.data[j * n + k] = row[k];
    for (int64_t k = 0; k < r; ++k)
      tables.weight[j * static_cast<size_t>(r) + static_cast<size_t>(k)] = power(points[j], k) / scale;
    for (int64_t i = 0; i < m; ++i) tables.output[static_cast<size_t>(i) * n + j] = power(points[j], i);
  }
  const std::vector<double> last = polynomial(points, points.size());
  for (size_t k = 0; k < n; ++k) tables.data[(n - 1) * n + k] = last[k];
  tables.weight.back() = 1;
  tables.output.back() = 1;
  return tables;
}

Result<Dag> rewrite_winograd(const Dag& dag, const std::string& stage, const RewriteParameters& parameters) {
  LATHE_TRY(const size_t position, find_stage(dag, stage));
  Compute conv = dag.computes[position];
  auto match = match_windowed_product(conv);
  std::optional<ImageForm> form;
  if (match && !is_image_convolution(conv, *match)) {
    form = image_form(conv, *match);
    if (form) conv = form->convolution;
    match = match_windowed_product(conv);
  }
  if (!match || !is_image_convolution(conv, *match))
    return refuse(stage, "it is no dense 2-D convolution of stride 1");
  // Both operands, whose product its body is, are of its type.
  const DType dtype = conv.output->dtype;
  if (dtype != DType::f32)
    return refuse(stage, fmt::format("its elements are {}, and the tables are f32", to_string(dtype)));
  Geometry g;
  const auto m = parameters.find("m");
  g.m = m == parameters.end() ? 4 : m->second;
  g.r = conv.axes[match->windows[0].reduce_axis].extent;
  if (conv.axes[match->windows[1].reduce_axis].extent != g.r)
    return refuse(stage, "its window is not square");
  LATHE_TRY(const WinogradTables tables, winograd_tables(g.m, g.r));
  g.n = g.m + g.r - 1;
  // Tables of more points hold numbers so far apart that f32 loses the result among them.
  constexpr int64_t kLargestTile = 8;
  if (g.n > kLargestTile) return refuse(stage, fmt::format("tiles of {} rows lose too much", g.n));
  g.batch = conv.output->shape[0];
  g.features = conv.output->shape[1];
  g.height = conv.output->shape[2];
  g.width = conv.output->shape[3];
  g.rows = (g.height + g.m - 1) / g.m;
  g.columns = (g.width + g.m - 1) / g.m;
  g.channels = conv.axes[match->channels[0]].extent;
  const Builder b{stage, g, Tensor::literal(stage + ".BT", {g.n, g.n}, tables.data),
                  Tensor::literal(stage + ".G", {g.n, g.r}, tables.weight),
                  Tensor::literal(stage + ".AT", {g.m, g.n}, tables.output)};
  std::vector<Compute> computes;
  if (form) computes = {form->data, form->weight};
  computes.push_back(b.weights(match->weight.tensor));
  const Tensor u = computes.back().output;
  computes.push_back(b.data_columns(match->data.tensor));
  computes.push_back(b.data(computes.back().output));
  computes.push_back(b.product(computes.back().output, u));
  computes.push_back(b.output_rows(computes.back().output));
  computes.push_back(b.output(computes.back().output));
  computes.push_back(b.untile(conv.output, computes.back().output));
  if (form) computes.push_back(form->after);
  return replace_stage(dag, position, std::move(computes));
}

}  // namespace lathe
