// Functions that a model brings along: each call becomes the function's nodes.
#pragma once

#include "base/result.h"

namespace onnx {
class ModelProto;
}  // namespace onnx

namespace lathe {

// Puts the nodes of the model's functions where they are called, in the bodies of branches and loops too. An
// Error if a function calls itself, is written in another ONNX operator set than the model, or the nodes are
// too many.
Status inline_functions(onnx::ModelProto& model);

}  // namespace lathe
