// Discrete Fourier transforms.
#pragma once

#include "graph/onnx/node.h"
#include "graph/onnx/steps.h"

namespace lathe {

// ONNX DFT, of a constant length along a constant axis: products by constant matrices, of long axes by those
// of factors of their length.
ImportedOutputs import_dft(OnnxNode& node);
// ONNX STFT, of constant steps and lengths: the transforms of frames, which may overlap.
ImportedOutputs import_stft(OnnxNode& node);

}  // namespace lathe
