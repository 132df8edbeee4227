// The file weights.bin: blocks of bytes behind a head that names their model. Where each constant lies
// follows from the model (artifact/network_model.cpp).
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace lathe {

struct Model;

constexpr int64_t kWeightsHeadBytes = 64;

// Where a block begins behind so many bytes of the file: 64-byte aligned.
int64_t block_place(int64_t bytes);

// Writes the model's file, packs and prepares its constants on the way, and lets go of each once it is
// written: networks have more weights than should be in memory twice. Returns the id of the build, which the
// head names. An Error where the file cannot be written or a prepare entry cannot be run.
Result<uint64_t> write_weights(Model& model, const std::string& path);

// The id that the head of a file must name, for what the file holds.
uint64_t weights_id(std::string file);

}  // namespace lathe
