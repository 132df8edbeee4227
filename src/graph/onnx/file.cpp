#include "graph/onnx/file.h"

#include <fmt/format.h>

#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>

#include "base/file_type.h"
#include "base/read_file.h"
#include "graph/onnx/proto.h"

namespace lathe {

namespace {

// Operator sets whose node meanings the import was written against; the table of operators says from which of
// them on it takes each.
constexpr int64_t kOldestOperatorSet = 1;
constexpr int64_t kNewestOperatorSet = 28;

// What protocol buffers count the bytes of a message in.
constexpr std::uintmax_t kMostBytes = std::numeric_limits<int32_t>::max();

std::optional<uint64_t> read_varint(const std::string& bytes, size_t& at) {
  uint64_t value = 0;
  for (int shift = 0; shift < 64 && at < bytes.size(); shift += 7) {
    const auto byte = static_cast<uint8_t>(bytes[at++]);
    value |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return value;
  }
  return std::nullopt;
}

// Whether the outermost fields of a model's wire format are whole but for the last, which runs past the end.
bool is_cut_off(const std::string& bytes) {
  constexpr uint64_t kVarint = 0, kLengthDelimited = 2;
  size_t at = 0;
  while (at < bytes.size()) {
    const std::optional<uint64_t> tag = read_varint(bytes, at);
    if (!tag) return at == bytes.size();
    const bool known =
        onnx::ModelProto::descriptor()->FindFieldByNumber(static_cast<int>(*tag >> 3)) != nullptr;
    if (!known || ((*tag & 7) != kVarint && (*tag & 7) != kLengthDelimited)) return false;
    const std::optional<uint64_t> value = read_varint(bytes, at);
    if (!value) return at == bytes.size();
    if ((*tag & 7) == kVarint) continue;
    if (*value > bytes.size() - at) return true;
    at += *value;
  }
  return false;
}

Status check_operator_set(const onnx::ModelProto& model, const std::string& name) {
  std::optional<int64_t> version;
  for (const onnx::OperatorSetIdProto& set : model.opset_import()) {
    if (!set.domain().empty() && set.domain() != "ai.onnx") continue;
    if (version && *version != set.version()) {
      return fail(ErrorKind::parse,
                  fmt::format("the model uses two ONNX operator sets, {} and {}", *version, set.version()),
                  name);
    }
    version = set.version();
  }
  // Without one it may hold operators of others alone, which the import names.
  if (!version) return {};
  if (*version >= kOldestOperatorSet && *version <= kNewestOperatorSet) return {};
  return fail(ErrorKind::unsupported,
              fmt::format("the model uses ONNX operator set {}, and Lathe supports {} to {}", *version,
                          kOldestOperatorSet, kNewestOperatorSet),
              name);
}

}  // namespace

Result<std::string> read_model_file(const std::string& path) {
  LATHE_TRY(const std::filesystem::file_type type, file_type_of(path));
  if (type == std::filesystem::file_type::not_found)
    return fail(ErrorKind::not_found, "there is no such file", path);
  if (type == std::filesystem::file_type::directory)
    return fail(ErrorKind::io, "it is a folder, not a model", path);
  std::error_code unknown;  // of a pipe
  const std::uintmax_t bytes = std::filesystem::file_size(path, unknown);
  if (!unknown && bytes > kMostBytes) {
    return fail(ErrorKind::unsupported,
                fmt::format("it has {} bytes, and an ONNX file has at most {}: models with more keep their "
                            "tensors in files beside it",
                            bytes, kMostBytes),
                path);
  }
  return read_file(path);
}

Result<std::unique_ptr<onnx::ModelProto>> parse_model(const std::string& bytes, const std::string& name) {
  auto model = std::make_unique<onnx::ModelProto>();
  if (bytes.empty()) return fail(ErrorKind::parse, "the file is empty", name);
  if (!model->ParseFromString(bytes)) {
    if (is_cut_off(bytes)) return fail(ErrorKind::parse, "the ONNX model is truncated", name);
    return fail(ErrorKind::parse, "it is not an ONNX model", name);
  }
  if (!model->has_ir_version()) return fail(ErrorKind::parse, "it is not an ONNX model", name);
  if (!model->has_graph()) {
    return fail(ErrorKind::parse, "the ONNX model has no graph; it may be truncated", name);
  }
  LATHE_TRY_STATUS(check_operator_set(*model, name));
  return model;
}

Result<std::unique_ptr<onnx::ModelProto>> read_model(const std::string& path) {
  LATHE_TRY(const std::string bytes, read_model_file(path));
  return parse_model(bytes, path);
}

}  // namespace lathe
