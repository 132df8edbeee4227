// Data that a model keeps in files beside itself. A model may come from anywhere, so that it names a file
// gives it no right to read it: only files that lie in the model's folder or below it are read, wherever
// links lead. A model that is itself a link has two such folders, that of the link and that of the file.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "graph/graph.h"

namespace onnx {
class TensorProto;
}  // namespace onnx

namespace lathe {

struct DataFolders {
  std::string of_path;       // where the paths that a model names begin; empty: no file is read
  std::string of_file = {};  // where links may lead too; empty: nowhere else
};

// That of the model in that file.
DataFolders folders_beside(const std::string& path);
// Whether the tensor's data lies in another file.
bool is_external(const onnx::TensorProto& tensor);
// The path of that file, as the tensor names it in the model's folder.
std::string external_path(const onnx::TensorProto& tensor, const std::string& folder);
// That data, which must have the size of `type`; only that part of the file is read. `label` is what errors
// call the tensor. An Error where there is no such file in the folders, where the file is too short or the
// part has another size.
Result<std::shared_ptr<const Bytes>> read_external(const onnx::TensorProto& tensor, const TensorType& type,
                                                   const DataFolders& folders, const std::string& label);

}  // namespace lathe
