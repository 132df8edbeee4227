// ONNX nodes that walk along a sequence: LSTM, GRU and RNN, in either direction or both, with sequences of
// several lengths. What hangs on the inputs alone is one product for all places; then each place becomes the
// same few operators over the state before it, of the same types and shapes: a network runs the same kernels
// once for each place.
#pragma once

#include "graph/onnx/node.h"
#include "graph/onnx/steps.h"

namespace lathe {

// All states, the last one, and of an LSTM the last cell.
ImportedOutputs import_lstm(OnnxNode& node);
ImportedOutputs import_gru(OnnxNode& node);
ImportedOutputs import_rnn(OnnxNode& node);
// com.microsoft DynamicQuantizeLSTM: the LSTM of the real numbers that its weights stand for; what these are
// multiplied by is not rounded.
ImportedOutputs import_dynamic_quantize_lstm(OnnxNode& node);

}  // namespace lathe
