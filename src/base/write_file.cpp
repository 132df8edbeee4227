#include "base/write_file.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "base/scratch_folder.h"

namespace lathe {
namespace {

namespace fs = std::filesystem;

std::unexpected<Error> refused(const std::string& path, const std::string& reason) {
  return fail(ErrorKind::io, fmt::format("the file cannot be written: {}", reason), path);
}

// Where the file lies, links followed; empty where it cannot be replaced, or may not be written at all.
fs::path replaceable(const std::string& path) {
  std::error_code error;
  const fs::file_type type = fs::status(path, error).type();
  if (type != fs::file_type::regular && type != fs::file_type::not_found) return {};
  const fs::path place = fs::weakly_canonical(fs::absolute(path, error), error);
  if (error || !place.has_filename()) return {};
  if (type == fs::file_type::regular && access(place.c_str(), W_OK) != 0) return {};
  return access(place.parent_path().c_str(), W_OK | X_OK) == 0 ? place : fs::path();
}

// `name` is what an Error calls the file.
Status write_here(const std::string& path, std::initializer_list<std::string_view> parts,
                  const std::string& name) {
  LATHE_TRY(FileInParts file, FileInParts::create(path, name));
  for (const std::string_view part : parts) LATHE_TRY_STATUS(file.add(part));
  return file.finish();
}

}  // namespace

FileInParts::FileInParts(const std::string& path, std::string name)
    : file_(path, std::ios::binary | std::ios::trunc), name_(std::move(name)) {}

Result<FileInParts> FileInParts::create(const std::string& path, std::string name) {
  FileInParts file(path, std::move(name));
  if (file.file_) return file;
  return refused(file.name_, std::strerror(errno));
}

Status FileInParts::add(std::string_view part) {
  if (file_.write(part.data(), static_cast<std::streamsize>(part.size()))) return {};
  return refused(name_, std::strerror(errno));
}

Status FileInParts::finish(std::string_view head) {
  if (!head.empty()) file_.seekp(0).write(head.data(), static_cast<std::streamsize>(head.size()));
  file_.close();
  if (file_) return {};
  return refused(name_, std::strerror(errno));
}

Status write_file(const std::string& path, std::initializer_list<std::string_view> parts) {
  const fs::path place = replaceable(path);
  if (place.empty()) return write_here(path, parts, path);
  LATHE_TRY(const ScratchFolder scratch, ScratchFolder::create(place.parent_path().string()));
  const std::string made = scratch.at("file");
  LATHE_TRY_STATUS(write_here(made, parts, path));
  std::error_code error;
  const fs::file_status before = fs::status(place, error);
  if (fs::exists(before)) fs::permissions(made, before.permissions(), error);
  error.clear();
  fs::rename(made, place, error);
  if (error) return refused(path, error.message());
  return {};
}

}  // namespace lathe
