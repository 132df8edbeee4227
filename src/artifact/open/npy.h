// NumPy's .npy files, format versions 1 to 3, of either order of bytes and of indices. Values as bytes;
// errors name the file. Files are written little-endian, in C order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "expr/type.h"

namespace lathe {

struct NpyArray {
  DType dtype = DType::f32;
  std::vector<int64_t> shape;
  std::vector<std::byte> bytes;  // row-major, each element as this machine has it
};

// An Error where there is no such file, it is no .npy file or cut short, or its elements are of a type that
// Lathe does not have (NumPy's f2, f4, f8, i1 to i8, u1, u2, booleans, and bf16 as V2 it has).
Result<NpyArray> read_npy(const std::string& path);
// A file that was there stays as it is where this one cannot be written whole.
Status write_npy(const std::string& path, const NpyArray& array);

}  // namespace lathe
