// manifest.json as whoever loads an artifact reads it (docs/artifact_format.md), and the hashes by which
// damage is found. Whoever opens model.so trusts these shapes, and a library that was cut short ends the
// process.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "expr/affine.h"
#include "expr/type.h"
#include "lathe/model_face.h"
#include "network/free_sizes.h"

namespace lathe {

// What the manifest says of an input or output.
struct ArtifactTensor {
  std::string name;
  DType dtype = DType::f32;
  std::vector<int64_t> shape;
  bool is_constant = false;
  size_t bytes = 0;                      // row-major and packed
  std::optional<Interval> indices = {};  // what integers that serve as indices may be, both ends included
};

// Which file belongs to the manifest.
struct FileMark {
  std::string name;
  size_t bytes = 0;
  std::string hash;  // hash_to_string(hash_text(..)) of all that the file holds
};

// What it says of a launch, for people. A Lathe that did not write operators, operations and bytes yet says
// none of them.
struct ManifestLaunch {
  std::string name;
  std::vector<std::string> operators = {};  // "Conv", "Relu"
  std::optional<int64_t> flops = {};        // of the formula as it is written (flops_of, task/task.h)
  std::optional<int64_t> bytes = {};        // of its inputs and outputs, each once
  int64_t runs = 1;  // in a run of the model, as far as no loop around it is ended by the run itself
};

struct Manifest {
  std::string name;
  std::string target;                // what it was compiled for; empty: of a Lathe that did not write it yet
  int cores = 1;                     // that it was compiled for
  bool has_hash = false;             // which is right, where it is there
  std::optional<std::string> build;  // none: of a Lathe that did not write it yet
  std::vector<ArtifactTensor> inputs;
  std::vector<ArtifactTensor> outputs;
  std::vector<ManifestLaunch> launches;  // in the order in which they run; at the largest sizes
  FreeSizes free = {};                   // shapes are those at the largest
  std::optional<FileMark> library;       // none: of C sources, or of a Lathe that did not write it yet
  std::vector<FileMark> files;  // all others but the weights; none of a Lathe that did not write them yet
};

// An Error where the folder holds no manifest, or one that is damaged.
Result<Manifest> read_manifest(const std::string& folder);

// Whether its library is one for processors of this machine's kind, whatever instructions they have.
bool is_of_this_architecture(const Manifest& manifest);

// An Error that names the first difference between the manifest and what the library says of its own model.
Status check_interface(const Manifest& manifest, const lathe_model_info& library, const std::string& path);

// An Error unless the input may have this shape, each free axis by itself; `label` is what the sentence is
// about.
Status check_input_shape(const Manifest& manifest, size_t input, const std::vector<int64_t>& shape,
                         const std::string& label);

// Of all that the manifest says, whatever its white space, but for "hash" itself.
std::string manifest_hash(nlohmann::json manifest);

// An Error where these are not the bytes that were written. `what` is what it calls the file.
Status check_file(std::string_view bytes, const FileMark& mark, const char* what, const std::string& path);

// An Error where these are not the bytes that were linked. Without a mark all that is found is a file that
// was cut short.
Status check_library(std::string_view bytes, const std::optional<FileMark>& mark, const std::string& path);

}  // namespace lathe
