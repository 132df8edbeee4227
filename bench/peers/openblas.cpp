// OpenBLAS as a peer: matrix and matrix-vector products of row-major operands.
#include <cblas.h>

#include <algorithm>
#include <new>
#include <sstream>

#include "bench/peers/plugin.h"

namespace lathe::peers {
namespace {

// Floats at the beginning of a cache line.
class Buffer {
 public:
  explicit Buffer(int64_t elements)
      : size_(static_cast<size_t>(elements)), values_(new (kLine) float[size_]) {}
  explicit Buffer(std::span<const float> values) : Buffer(static_cast<int64_t>(values.size())) {
    std::ranges::copy(values, values_.get());
  }
  float* at(int64_t place) const { return values_.get() + place; }
  std::span<const float> all() const { return {values_.get(), size_}; }

 private:
  static constexpr std::align_val_t kLine{64};
  struct Free {
    void operator()(float* values) const { ::operator delete[](values, kLine); }
  };
  size_t size_;
  std::unique_ptr<float[], Free> values_;
};

class ProductCase : public Case {
 public:
  ProductCase(Buffer a, Buffer b, int64_t outputs) : a_(std::move(a)), b_(std::move(b)), c_(outputs) {}

  void read(std::span<float> output) override {
    if (output.size() != c_.all().size()) throw std::runtime_error("the output has another size");
    std::ranges::copy(c_.all(), output.begin());
  }

 protected:
  Buffer a_;
  Buffer b_;
  Buffer c_;
};

struct Sizes {
  int64_t batch = 1;
  int64_t m = 1;
  int64_t n = 1;
  int64_t k = 1;
};

class MatrixProduct : public ProductCase {
 public:
  MatrixProduct(const Request& request, const Sizes& sizes)
      : ProductCase(Buffer(request.input(0, sizes.batch * sizes.m * sizes.k)),
                    Buffer(request.input(1, sizes.batch * sizes.k * sizes.n)),
                    sizes.batch * sizes.m * sizes.n),
        sizes_(sizes) {}

  void run() override {
    const auto m = static_cast<blasint>(sizes_.m);
    const auto n = static_cast<blasint>(sizes_.n);
    const auto k = static_cast<blasint>(sizes_.k);
    for (int64_t b = 0; b < sizes_.batch; ++b) {
      cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, n, k, 1.0F, a_.at(b * sizes_.m * sizes_.k), k,
                  b_.at(b * sizes_.k * sizes_.n), n, 0.0F, c_.at(b * sizes_.m * sizes_.n), n);
    }
  }

 private:
  Sizes sizes_;
};

class MatrixVectorProduct : public ProductCase {
 public:
  MatrixVectorProduct(const Request& request, int64_t m, int64_t k)
      : ProductCase(Buffer(request.input(0, m * k)), Buffer(request.input(1, k)), m),
        m_(static_cast<blasint>(m)),
        k_(static_cast<blasint>(k)) {}

  void run() override {
    cblas_sgemv(CblasRowMajor, CblasNoTrans, m_, k_, 1.0F, a_.at(0), k_, b_.at(0), 1, 0.0F, c_.at(0), 1);
  }

 private:
  blasint m_;
  blasint k_;
};

std::unique_ptr<Case> open(const Request& request) {
  openblas_set_num_threads(request.cores);
  const Entry& entry = request.entry;
  if (entry.op() == "gemv") return std::make_unique<MatrixVectorProduct>(request, entry["m"], entry["k"]);
  if (entry.op() != "matmul") throw Unsupported("OpenBLAS has products of matrices and vectors alone");
  return std::make_unique<MatrixProduct>(
      request, Sizes{entry.value_or("batch", 1), entry["m"], entry["n"], entry["k"]});
}

}  // namespace

// The library's own description begins with its name and version. It has kernels for many processors; which
// it takes decides its speed.
Plugin describe_plugin() {
  std::istringstream words(openblas_get_config());
  std::string name;
  std::string version;
  words >> name >> version;
  return {name + " " + version + " for " + openblas_get_corename(), {{"openblas", "", open}}};
}

}  // namespace lathe::peers
