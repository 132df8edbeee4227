// ONNX files: imported, simplified and cut into tasks, or one sentence. The files that they may keep their
// data in are those of the corpus, which is found from the root of the repository.
#include "graph/onnx/import.h"
#include "graph/simplify.h"
#include "network/partition.h"
#include "round_trip.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace lathe;
  const auto graph = import_onnx_bytes(std::string(fuzz::as_text(data, size)), "fuzz",
                                       {.input_shapes = {}, .data_folders = {"fuzz/corpus/onnx"}});
  LATHE_CHECK(graph || !graph.error().message.empty());
  if (graph) static_cast<void>(partition(simplify(*graph)));
  return 0;
}
