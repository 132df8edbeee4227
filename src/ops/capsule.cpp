#include "ops/capsule.h"

#include "base/check.h"

namespace lathe {
namespace {

Result<Operator> make_capsule(const Parameters& p) {
  const int64_t kernel = p["kernel"];
  const int64_t size = p["capsule"];
  const Window window = uniform_window(2, p["stride"], p["padding"]);
  LATHE_TRY_STATUS(check_window(std::vector<int64_t>{p["height"], p["width"]},
                                std::vector<int64_t>{kernel, kernel}, window));
  DagBuilder builder;
  const Tensor input =
      builder.input("P", {p["batch"], p["height"], p["width"], p["in_channels"], size, size});
  const Tensor weight = builder.input("W", {kernel, kernel, p["in_channels"], p["out_channels"], size, size});
  const Tensor output = capsule_conv2d(builder, "O", input, weight, window);
  return finish(builder, {"W"},
                multiply_adds({p["batch"], output->shape[1], output->shape[2], p["out_channels"],
                               p["in_channels"], kernel, kernel, size, size, size}));
}

}  // namespace

Tensor capsule_conv2d(DagBuilder& builder, std::string name, const Tensor& input, const Tensor& weight,
                      const Window& window) {
  LATHE_CHECK(input->shape.size() == 6 && weight->shape.size() == 6 && input->shape[3] == weight->shape[2]);
  const Tensor padded = pad(builder, input, 1, 2, window);
  const Axis n = spatial("n", input->shape[0]);
  const Axis y = spatial("y", window_count(input->shape[1], weight->shape[0], window, 0));
  const Axis x = spatial("x", window_count(input->shape[2], weight->shape[1], window, 1));
  const Axis f = spatial("f", weight->shape[3]);
  const Axis i = spatial("i", input->shape[4]);
  const Axis j = spatial("j", weight->shape[5]);
  const Axis ky = reduce("ky", weight->shape[0]);
  const Axis kx = reduce("kx", weight->shape[1]);
  const Axis c = reduce("c", weight->shape[2]);
  const Axis r = reduce("r", weight->shape[4]);
  const Expr product = padded(n, y * window.stride_of(0) + ky * window.dilation_of(0),
                              x * window.stride_of(1) + kx * window.dilation_of(1), c, i, r) *
                       weight(ky, kx, c, f, r, j);
  return builder.compute(std::move(name), {n, y, x, f, i, j}, sum({ky, kx, c, r}, product));
}

std::vector<OperatorEntry> capsule_operators() {
  return {{"capsule_conv2d",
           {{"batch"},
            {"height"},
            {"width"},
            {"in_channels"},
            {"out_channels"},
            {"kernel"},
            {"stride"},
            {"padding", 0},
            {"capsule"}},
           make_capsule}};
}

}  // namespace lathe
