#include "codegen/device_programs.h"

#include <fmt/format.h>

#include <algorithm>

namespace lathe::testing {

HandTrace staged_product(int a, int b, int c) {
  return {fmt::format("product_{}_{}_{}", a, b, c),
          fmt::format("C[i:{0}, j:{1}] = sum(k:{2}) A[i,k] * B[k,j]\n", a, b, c),
          "split C i [2 8 2]\nsplit C j [2 8 2]\nsplit C k [8]\n"
          "reorder C i.0 j.0 k.0 i.2 j.2 k.1 i.1 j.1 i.3 j.3\n"
          "cache_write C C.acc at=j.0 scope=registers\n"
          "cache_read C A A.s at=k.0 scope=shared\ncache_read C B B.s at=k.0 scope=shared\n"
          "bind C i.0 block\nbind C j.0 block\nbind C i.2 thread\nbind C j.2 thread\n"
          "fuse A.s d0 d1\nsplit A.s d0_d1 [64]\nreorder A.s d0_d1.1 d0_d1.0\nbind A.s d0_d1.1 thread\n"
          "fuse B.s d0 d1\nsplit B.s d0_d1 [64]\nreorder B.s d0_d1.1 d0_d1.0\nbind B.s d0_d1.1 thread\n"
          "split C.acc.out i [8 2]\nsplit C.acc.out j [8 2]\n"
          "reorder C.acc.out i.1 j.1 i.0 j.0 i.2 j.2\n"
          "bind C.acc.out i.1 thread\nbind C.acc.out j.1 thread\n",
          2};
}

HandTrace depthwise(int y, int x) {
  return {fmt::format("depthwise_{}_{}", y, x),
          fmt::format("O[n:2, c:5, y:{}, x:{}] = sum(r:3, s:3) I[n, c, y + r, x + s] * W[c, r, s]\n", y, x),
          "split O y [4]\nsplit O x [4]\nreorder O n c y.0 x.0 y.1 x.1 r s\n"
          "cache_read O I I.s at=x.0 scope=shared\ncache_read O W W.s at=x.0 scope=shared\n"
          "cache_write O O.acc at=x.1 scope=registers\n"
          "bind O n block\nbind O c block\nbind O y.0 block\nbind O x.0 block\n"
          "bind I.s d2 thread\nbind I.s d3 thread\nbind W.s d1 thread\nbind W.s d2 thread\n"
          "bind O y.1 thread\nbind O x.1 thread\n",
          1};
}

HandTrace softmax(int rows, int columns) {
  return {fmt::format("softmax_{}_{}", rows, columns),
          fmt::format("Mx[i:{0}] = max(k:{1}) X[i,k]\nE[i:{0}, j:{1}] = exp(X[i,j] - Mx[i])\n"
                      "S[i:{0}] = sum(k:{1}) E[i,k]\nY[i:{0}, j:{1}] = E[i,j] / S[i]\n",
                      rows, columns),
          "split Mx k [16]\nrfactor Mx k.1\nsplit S k [16]\nrfactor S k.1\nsplit Y i [2]\nsplit Y j [16]\n"
          "compute_at S Y i.0 scope=shared\ncompute_at S.rf Y i.0 scope=shared\n"
          "compute_at E Y i.0 scope=shared\ncompute_at Mx Y i.0 scope=shared\n"
          "compute_at Mx.rf Y i.0 scope=shared\n"
          "bind Y i.0 block\nbind Mx.rf i thread\nbind Mx.rf k.1 thread\nbind Mx i thread\n"
          "split E j [16]\nreorder E i j.1 j.0\nbind E i thread\nbind E j.1 thread\n"
          "bind S.rf i thread\nbind S.rf k.1 thread\nbind S i thread\n"
          "reorder Y i.1 j.1 j.0\nbind Y i.1 thread\nbind Y j.1 thread\n",
          4};
}

std::vector<HandTrace> hand_traces() {
  return {staged_product(64, 64, 32),
          staged_product(100, 101, 99),
          staged_product(33, 70, 17),
          depthwise(8, 12),
          depthwise(9, 11),
          depthwise(14, 17),
          softmax(32, 64),
          softmax(33, 70),
          softmax(5, 130)};
}

Result<std::vector<HostTensor>> run_on_device(const Module& module, std::span<const Argument> arguments,
                                              std::span<const HostTensor> inputs) {
  LATHE_TRY(const std::unique_ptr<DeviceInstance> instance, open_on_device(module));
  size_t next = 0;
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i].is_output) continue;
    std::vector<std::byte> bytes(static_cast<size_t>(module.buffers[i].bytes));
    copy_in(inputs[next++], arguments[i].layout, bytes);
    LATHE_TRY_STATUS(instance->write(i, bytes));
  }
  LATHE_TRY_STATUS(instance->prepare());
  LATHE_TRY_STATUS(instance->run());
  LATHE_TRY_STATUS(instance->check_slack());
  std::vector<HostTensor> outputs;
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (!arguments[i].is_output) continue;
    std::vector<std::byte> bytes(static_cast<size_t>(module.buffers[i].bytes));
    LATHE_TRY_STATUS(instance->read(i, bytes));
    outputs.push_back(copy_out(arguments[i].tensor, arguments[i].layout, bytes));
  }
  return outputs;
}

std::string without_barrier(const std::string& text, int place) {
  const std::string_view call = " LATHE_BARRIER_";
  size_t at = text.find(call, text.find("__kernel"));
  for (int i = 0; i < place && at != std::string::npos; ++i) at = text.find(call, at + 1);
  if (at == std::string::npos) return text;
  return text.substr(0, at) + text.substr(text.find('\n', at));
}

}  // namespace lathe::testing
