// From an ONNX model to a Graph: reads the file, checks what it says, infers every shape by Lathe's own
// rules. The model's declared intermediate shapes are ignored. Every error is one sentence that names the
// file and the node, initializer or input. Nodes of type Constant become constants, and so do the
// shapes that a model computes. A graph without a name is called as its file. No other simplification: see
// graph/simplify.h.
#pragma once

#include <map>
#include <string>

#include "base/result.h"
#include "graph/graph.h"
#include "graph/onnx/external.h"

namespace lathe {

struct OnnxImportOptions {
  // Shapes of inputs, by name: needed where the model leaves a dimension open, and used instead of the
  // model's where it does not. The number of dimensions must agree.
  std::map<std::string, Shape> input_shapes;
  // The only folders in which files are read that the model keeps its data in; a model that is a file itself
  // has its own.
  DataFolders data_folders = {};
};

// The model in a file.
Result<Graph> import_onnx(const std::string& path, const OnnxImportOptions& options = {});
// The same for a model in memory; `name` is what errors call it.
Result<Graph> import_onnx_bytes(const std::string& bytes, const std::string& name,
                                const OnnxImportOptions& options = {});

}  // namespace lathe
