// The generated ONNX classes, with the definitions that the generated header expects. Included by the
// import's own source files and by tests that write models; nothing else sees protobuf.
#pragma once

#define ONNX_API
#include <onnx/onnx-ml.pb.h>
