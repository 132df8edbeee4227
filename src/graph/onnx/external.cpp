#include "graph/onnx/external.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <optional>

#include "graph/onnx/proto.h"

namespace lathe {

namespace {

namespace fs = std::filesystem;

// What a tensor says of its data, by ONNX's keys; null for what it leaves out.
const std::string* entry_of(const onnx::TensorProto& tensor, const std::string& key) {
  for (const onnx::StringStringEntryProto& entry : tensor.external_data()) {
    if (entry.key() == key) return &entry.value();
  }
  return nullptr;
}

// A number of bytes that the tensor gives as text.
Result<std::optional<int64_t>> bytes_entry(const onnx::TensorProto& tensor, const std::string& key,
                                           const std::string& label) {
  const std::string* const text = entry_of(tensor, key);
  if (text == nullptr) return std::nullopt;
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
  if (error == std::errc() && end == text->data() + text->size() && value >= 0) return value;
  return fail(ErrorKind::invalid_argument,
              fmt::format("{} keeps its data in another file, with '{}' as its {}, which must be a number of "
                          "bytes",
                          label, *text, key));
}

// The file that a tensor names, with every link followed.
Result<fs::path> path_within(const DataFolders& folders, const std::string& location,
                             const std::string& label) {
  const auto refuse = [&](ErrorKind kind, const char* why) {
    return fail(kind, fmt::format("{} keeps its data in the file '{}', {}", label, location, why));
  };
  const fs::path relative(location);
  const bool climbs = std::ranges::find(relative, fs::path("..")) != relative.end();
  if (relative.is_absolute() || climbs || location.find('\0') != std::string::npos)
    return refuse(ErrorKind::unsupported, "and Lathe reads only files in the model's folder");
  std::error_code error;
  const fs::path root = fs::canonical(folders.of_path, error);
  fs::path path = error ? fs::path() : fs::canonical(root / relative, error);
  if (error == std::errc::no_such_file_or_directory)
    return refuse(ErrorKind::not_found, "which is not in the model's folder");
  if (error) return refuse(ErrorKind::io, "which cannot be read");
  const auto lies_in = [&](const fs::path& place) {
    return !place.empty() && std::ranges::mismatch(place, path).in1 == place.end();
  };
  if (!lies_in(root) && !lies_in(folders.of_file))
    return refuse(ErrorKind::unsupported, "which links lead out of the model's folder");
  if (!fs::is_regular_file(path, error)) return refuse(ErrorKind::io, "which is no file");
  return path;
}

}  // namespace

DataFolders folders_beside(const std::string& path) {
  const std::filesystem::path beside(".");
  std::error_code unresolved;  // where the path has become another's since it was read
  return {(beside / path).parent_path().string(),
          std::filesystem::canonical(beside / path, unresolved).parent_path().string()};
}

bool is_external(const onnx::TensorProto& tensor) {
  return tensor.data_location() == onnx::TensorProto_DataLocation_EXTERNAL || tensor.external_data_size() > 0;
}

std::string external_path(const onnx::TensorProto& tensor, const std::string& folder) {
  const std::string* const location = entry_of(tensor, "location");
  return (fs::path(folder) / (location != nullptr ? *location : "")).string();
}

Result<std::shared_ptr<const Bytes>> read_external(const onnx::TensorProto& tensor, const TensorType& type,
                                                   const DataFolders& folders, const std::string& label) {
  const std::string* const location = entry_of(tensor, "location");
  if (location == nullptr) {
    return fail(ErrorKind::invalid_argument,
                fmt::format("{} keeps its data in another file and does not say in which", label));
  }
  if (folders.of_path.empty()) {
    return fail(
        ErrorKind::unsupported,
        fmt::format("{} keeps its data in the file '{}', which Lathe does not read there", label, *location));
  }
  LATHE_TRY(const std::optional<int64_t> offset, bytes_entry(tensor, "offset", label));
  LATHE_TRY(const std::optional<int64_t> length, bytes_entry(tensor, "length", label));
  LATHE_TRY(const fs::path path, path_within(folders, *location, label));
  std::error_code error;
  const auto file_bytes = static_cast<int64_t>(fs::file_size(path, error));
  const int64_t begin = offset.value_or(0);
  // Without a length it takes what it needs, whatever else the file holds.
  const int64_t bytes = length.value_or(bytes_of(type));
  if (bytes != bytes_of(type)) {
    return fail(ErrorKind::invalid_argument,
                fmt::format("{} has {} bytes of data in the file '{}', and {} takes {}", label, bytes,
                            *location, to_string(type), bytes_of(type)));
  }
  if (begin > file_bytes || bytes > file_bytes - begin) {
    return fail(
        ErrorKind::invalid_argument,
        fmt::format("{} keeps its data in {} bytes of the file '{}' from byte {} on, and the file has "
                    "{} bytes",
                    label, bytes, *location, begin, file_bytes));
  }
  auto data = std::make_shared<Bytes>(static_cast<size_t>(bytes));
  std::ifstream file(path, std::ios::binary);
  file.seekg(begin);
  file.read(reinterpret_cast<char*>(data->data()), bytes);
  if (file) return data;
  return fail(ErrorKind::io,
              fmt::format("{} keeps its data in the file '{}', which cannot be read", label, *location));
}

}  // namespace lathe
