#include "artifact/manifest.h"

#include <elf.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>

#include "artifact/runtime/instructions.h"
#include "base/abridged.h"
#include "base/file_type.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/read_file.h"

namespace lathe {
namespace {

constexpr int kFormat = 1;

// The size in memory; nothing where 64 bits do not hold it.
std::optional<size_t> byte_count(DType dtype, const std::vector<int64_t>& shape) {
  int64_t count = bytes_of(dtype);
  for (const int64_t extent : shape) {
    if (__builtin_mul_overflow(count, extent, &count)) return std::nullopt;
  }
  return static_cast<size_t>(count);
}

Result<ArtifactTensor> read_tensor(const nlohmann::json& entry, const std::string& path) {
  ArtifactTensor tensor;
  tensor.name = entry.at("name").get<std::string>();
  LATHE_TRY(tensor.dtype, parse_dtype(entry.at("type").get<std::string>()));
  for (const nlohmann::json& extent : entry.at("shape")) {
    if (!extent.is_number_integer())
      return fail(ErrorKind::parse,
                  fmt::format("tensor '{}' has an extent that is no whole number", tensor.name), path);
    tensor.shape.push_back(extent.get<int64_t>());
  }
  const auto refused = [&](const char* why) {
    return fail(
        ErrorKind::parse,
        fmt::format("tensor '{}' has the shape [{}], {}", tensor.name, fmt::join(tensor.shape, ","), why),
        path);
  };
  if (std::ranges::any_of(tensor.shape, [](int64_t extent) { return extent < 1; })) {
    return refused("and extents are at least 1");
  }
  const std::optional<size_t> bytes = byte_count(tensor.dtype, tensor.shape);
  if (!bytes) return refused("which is more than 64 bits can address");
  tensor.bytes = *bytes;
  tensor.is_constant = entry.value("constant", false);
  if (const auto range = entry.find("indices"); range != entry.end())
    tensor.indices = {range->at(0).get<int64_t>(), range->at(1).get<int64_t>()};
  return tensor;
}

Result<std::vector<ArtifactTensor>> read_tensors(const nlohmann::json& list, const std::string& path) {
  std::vector<ArtifactTensor> tensors;
  for (const nlohmann::json& entry : list) {
    LATHE_TRY(ArtifactTensor tensor, read_tensor(entry, path));
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

std::vector<ManifestLaunch> read_launches(const nlohmann::json& manifest) {
  std::vector<ManifestLaunch> launches;
  for (const nlohmann::json& entry : manifest.value("launches", nlohmann::json::array())) {
    ManifestLaunch& launch = launches.emplace_back(entry.at("name").get<std::string>());
    launch.operators = entry.value("operators", std::vector<std::string>());
    const nlohmann::json& kernel = manifest.at("kernels").at(entry.at("kernel").get<size_t>());
    if (kernel.contains("flops")) launch.flops = kernel.at("flops").get<int64_t>();
    if (kernel.contains("bytes")) launch.bytes = kernel.at("bytes").get<int64_t>();
  }
  for (const nlohmann::json& loop : manifest.value("loops", nlohmann::json::array())) {
    if (loop.contains("goes_on")) continue;
    const auto first = loop.at("first_launch").get<size_t>(), count = loop.at("launch_count").get<size_t>();
    for (size_t i = first; i < first + count; ++i)
      if (__builtin_mul_overflow(launches.at(i).runs, loop.at("steps").get<int64_t>(), &launches[i].runs))
        launches[i].runs = std::numeric_limits<int64_t>::max();
  }
  return launches;
}

SizedBy read_served(const std::string& word) {
  if (word == "parts") return SizedBy::parts;
  return word == "count" ? SizedBy::count : SizedBy::exact;
}

// An Error where an axis or a bound is none that the tensors have.
Result<FreeSizes> read_free(const nlohmann::json& json, const Manifest& manifest, const std::string& path) {
  FreeSizes free;
  for (const nlohmann::json& entry : json.at("dimensions"))
    free.dimensions.push_back({entry.at("name").get<std::string>(), entry.at("least").get<int64_t>(),
                               entry.at("most").get<int64_t>(), read_served(entry.at("by"))});
  for (const nlohmann::json& entry : json.at("extents")) {
    const bool is_output = entry.contains("output");
    const FreeExtent extent{is_output,
                            entry.at(is_output ? "output" : "input").get<size_t>(),
                            entry.at("axis").get<size_t>(),
                            entry.at("dimension").get<size_t>(),
                            entry.at("outer").get<int64_t>(),
                            entry.at("inner").get<int64_t>()};
    const auto& tensors = is_output ? manifest.outputs : manifest.inputs;
    const bool fits = extent.tensor < tensors.size() && extent.dimension < free.dimensions.size() &&
                      extent.axis < tensors[extent.tensor].shape.size() && extent.outer >= 1 &&
                      extent.inner >= 1 &&
                      tensors[extent.tensor].shape[extent.axis] ==
                          extent.outer * extent.inner * free.dimensions[extent.dimension].most;
    if (!fits) return fail(ErrorKind::parse, "a free size is one of an axis that there is not", path);
    free.extents.push_back(extent);
  }
  return free;
}

FileMark read_mark(const std::string& name, const nlohmann::json& mark) {
  return {name, mark.at("bytes").get<size_t>(), mark.at("hash").get<std::string>()};
}

Result<Manifest> read_values(const nlohmann::json& json, const std::string& path) {
  // Earlier versions of Lathe wrote no hashes.
  if (json.contains("hash") && json.at("hash") != manifest_hash(json)) {
    return fail(ErrorKind::parse, "the manifest is damaged: it does not have the hash that it names", path);
  }
  if (const nlohmann::json& format = json.at("format"); format != kFormat) {
    return fail(
        ErrorKind::unsupported,
        fmt::format("the manifest has the format {}, and this Lathe reads {}", format.dump(), kFormat), path);
  }
  Manifest manifest;
  manifest.name = json.value("name", std::string());
  manifest.target = json.value("target", std::string());
  manifest.cores = json.value("cores", 1);
  manifest.has_hash = json.contains("hash");
  if (json.contains("build")) manifest.build = json.at("build").get<std::string>();
  LATHE_TRY(manifest.inputs, read_tensors(json.at("inputs"), path));
  LATHE_TRY(manifest.outputs, read_tensors(json.at("outputs"), path));
  manifest.launches = read_launches(json);
  if (json.contains("free")) {
    LATHE_TRY(manifest.free, read_free(json.at("free"), manifest, path));
  }
  if (json.contains("library")) manifest.library = read_mark("model.so", json.at("library"));
  if (json.contains("files")) {
    for (const auto& [name, mark] : json.at("files").items()) manifest.files.push_back(read_mark(name, mark));
  }
  return manifest;
}

// An ELF file ends with the table of its sections. A loader maps what the head promises, and a page that the
// file does not have ends the process when it is touched.
bool is_cut_short(std::string_view bytes) {
  Elf64_Ehdr head;
  if (bytes.size() < sizeof head) return true;
  std::memcpy(&head, bytes.data(), sizeof head);
  const size_t table = static_cast<size_t>(head.e_shnum) * head.e_shentsize;
  return head.e_shoff > bytes.size() || bytes.size() - head.e_shoff < table;
}

std::string describe(const ArtifactTensor& tensor) {
  return fmt::format("'{}', {}[{}]{}", tensor.name, to_string(tensor.dtype), fmt::join(tensor.shape, ","),
                     tensor.is_constant ? ", constant" : "");
}

std::string describe(const lathe_tensor_info& tensor) {
  return fmt::format("'{}', {}[{}]{}", tensor.name, tensor.type,
                     fmt::join(tensor.shape, tensor.shape + tensor.rank, ","),
                     tensor.is_constant != 0 ? ", constant" : "");
}

Status check_tensors(const char* role, const std::vector<ArtifactTensor>& listed,
                     const lathe_tensor_info* known, int known_count, const std::string& path) {
  if (listed.size() != static_cast<size_t>(known_count)) {
    return fail(ErrorKind::load,
                fmt::format("the manifest has {} {}s and the library {}", listed.size(), role, known_count),
                path);
  }
  for (size_t i = 0; i < listed.size(); ++i) {
    const std::string said = describe(listed[i]);
    const std::string right = describe(known[i]);
    if (said == right) continue;
    return fail(ErrorKind::load,
                fmt::format("{} {} is {} in the manifest and {} in the library", role, i, said, right), path);
  }
  return {};
}

Status check_free(const FreeSizes& listed, const lathe_model_info& library, const std::string& path) {
  const bool says = library.size >= offsetof(lathe_model_info, free_sizes) + sizeof library.free_sizes;
  const lathe_free_sizes none = {};
  const lathe_free_sizes& known = says && library.free_sizes != nullptr ? *library.free_sizes : none;
  bool same = listed.dimensions.size() == static_cast<size_t>(known.dimension_count) &&
              listed.extents.size() == static_cast<size_t>(known.extent_count);
  for (size_t d = 0; same && d < listed.dimensions.size(); ++d)
    same = listed.dimensions[d].least == known.dimensions[d].least &&
           listed.dimensions[d].most == known.dimensions[d].most;
  for (size_t i = 0; same && i < listed.extents.size(); ++i) {
    const FreeExtent& one = listed.extents[i];
    const lathe_free_extent& other = known.extents[i];
    same = one.is_output == (other.is_output != 0) && one.tensor == static_cast<size_t>(other.tensor) &&
           one.axis == static_cast<size_t>(other.axis) &&
           one.dimension == static_cast<size_t>(other.dimension) && one.outer == other.outer &&
           one.inner == other.inner;
  }
  if (same) return {};
  return fail(ErrorKind::load, "the free sizes are others in the manifest than in the library", path);
}

}  // namespace

Result<Manifest> read_manifest(const std::string& folder) {
  using std::filesystem::file_type;
  LATHE_TRY(const file_type type, file_type_of(folder));
  if (type == file_type::not_found) return fail(ErrorKind::not_found, "there is no such folder", folder);
  if (type != file_type::directory)
    return fail(ErrorKind::invalid_argument, "this is a file, and an artifact is a folder", folder);
  const std::string path = folder + "/manifest.json";
  LATHE_TRY(const file_type manifest_type, file_type_of(path));
  if (manifest_type == file_type::not_found)
    return fail(ErrorKind::not_found, "this is not an artifact, it has no manifest.json", folder);
  LATHE_TRY(const std::string text, read_regular_file(path));
  const auto refused = [&] {
    return fail(ErrorKind::parse, "this is not the manifest of an artifact", path);
  };
  const Result<nlohmann::json> json = parse_json(text, path);
  if (!json) return refused();
  try {
    return read_values(*json, path);
  } catch (const nlohmann::json::exception&) {
    return refused();
  }
}

bool is_of_this_architecture(const Manifest& manifest) {
  return manifest.target.empty() || find_instructions(manifest.target.c_str()) != nullptr;
}

Status check_interface(const Manifest& manifest, const lathe_model_info& library, const std::string& path) {
  const std::string build = hash_to_string(library.build);
  if (manifest.build && *manifest.build != build) {
    return fail(ErrorKind::load,
                fmt::format("the library is that of '{}', build {}, and the manifest that of '{}', build {}",
                            library.name, build, manifest.name, *manifest.build),
                path);
  }
  LATHE_TRY_STATUS(check_tensors("input", manifest.inputs, library.inputs, library.input_count, path));
  LATHE_TRY_STATUS(check_tensors("output", manifest.outputs, library.outputs, library.output_count, path));
  LATHE_TRY_STATUS(check_free(manifest.free, library, path));
  // Libraries of earlier versions do not say how many there are.
  const bool says = library.size >= offsetof(lathe_model_info, launch_count) + sizeof library.launch_count;
  if (!says || manifest.launches.size() == static_cast<size_t>(library.launch_count)) return {};
  return fail(ErrorKind::load,
              fmt::format("the manifest has {} launches and the library {}", manifest.launches.size(),
                          library.launch_count),
              path);
}

Status check_input_shape(const Manifest& manifest, size_t input, const std::vector<int64_t>& shape,
                         const std::string& label) {
  const ArtifactTensor& tensor = manifest.inputs[input];
  std::vector<std::string> wanted;
  bool fits = shape.size() == tensor.shape.size();
  for (size_t d = 0; d < tensor.shape.size(); ++d) {
    int64_t least = tensor.shape[d];
    for (const FreeExtent& extent : manifest.free.extents) {
      if (!extent.is_output && extent.tensor == input && extent.axis == d)
        least = manifest.free.dimensions[extent.dimension].least;
    }
    const int64_t most = tensor.shape[d];
    wanted.push_back(least == most ? std::to_string(most) : fmt::format("{}..{}", least, most));
    fits = fits && least <= shape[d] && shape[d] <= most;
  }
  if (fits) return {};
  return fail(ErrorKind::invalid_argument,
              fmt::format("input '{}' must be {}[{}], this is [{}]", tensor.name, to_string(tensor.dtype),
                          fmt::join(wanted, ","), abridged(fmt::format("{}", fmt::join(shape, ",")))),
              label);
}

std::string manifest_hash(nlohmann::json manifest) {
  manifest.erase("hash");
  return hash_to_string(hash_text(manifest.dump()));
}

Status check_file(std::string_view bytes, const FileMark& mark, const char* what, const std::string& path) {
  const auto damaged = [&](const std::string& by) {
    return fail(ErrorKind::load,
                fmt::format("the {} is damaged, or not the one that belongs to the manifest: {}", what, by),
                path);
  };
  if (bytes.size() != mark.bytes)
    return damaged(fmt::format("it has {} bytes in place of {}", bytes.size(), mark.bytes));
  if (hash_to_string(hash_text(bytes)) != mark.hash) return damaged("its hash is another one");
  return {};
}

Status check_library(std::string_view bytes, const std::optional<FileMark>& mark, const std::string& path) {
  if (mark) LATHE_TRY_STATUS(check_file(bytes, *mark, "library", path));
  if (is_cut_short(bytes)) return fail(ErrorKind::load, "the library is cut short", path);
  return {};
}

}  // namespace lathe
