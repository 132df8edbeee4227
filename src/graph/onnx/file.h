// The outermost part of the ONNX import: bytes to the generated protobuf classes, with errors that tell a
// truncated model from something else.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"

namespace onnx {
class ModelProto;
}  // namespace onnx

namespace lathe {

// The bytes of a file; an Error if there is none or it cannot be read.
Result<std::string> read_model_file(const std::string& path);
// The parsed model, with a graph and an operator set of ONNX's own domain that Lathe knows. `name` is for
// errors.
Result<std::unique_ptr<onnx::ModelProto>> parse_model(const std::string& bytes, const std::string& name);
// The model of a file, whose bytes are let go of.
Result<std::unique_ptr<onnx::ModelProto>> read_model(const std::string& path);

}  // namespace lathe
