// Losses of classes: what a network says of the class that each target names.
#pragma once

#include "graph/onnx/node.h"
#include "graph/onnx/steps.h"

namespace lathe {

// ONNX NegativeLogLikelihoodLoss, of logarithms of probabilities.
ImportedOutputs import_likelihood_loss(OnnxNode& node);
// ONNX SoftmaxCrossEntropyLoss, of scores; its second output is the logarithms of their probabilities.
ImportedOutputs import_cross_entropy(OnnxNode& node);

}  // namespace lathe
