// Whether Lathe has the operators of a model at all: asked before anything else is read, so that a model that
// Lathe cannot take is told by its nodes and not by a detail.
#pragma once

#include <string>

#include "base/result.h"

namespace onnx {
class ModelProto;
class NodeProto;
}  // namespace onnx

namespace lathe {

// Whether it is ONNX's own, which has two names.
bool is_own_domain(const std::string& domain);
// How a sentence calls a node: by its name, or by what it gives where it has none.
std::string name_of_node(const onnx::NodeProto& node);
// An Error that names every type that Lathe does not support, with how many nodes have it. The nodes of
// bodies count; the model's functions stand where they were called (functions.h).
Status check_node_types(const onnx::ModelProto& model);

}  // namespace lathe
