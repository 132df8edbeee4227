#include "session/commands/check_apart.h"

#include <fmt/format.h>

#include <filesystem>

#include "artifact/write/write_artifact.h"

namespace lathe {
namespace {

namespace fs = std::filesystem;

// As many links as the system follows.
constexpr int kMostLinks = 40;

// Where the file lies or would be made. A link's end need not exist yet: what is made first is found by it.
fs::path place_of(const std::string& path) {
  std::error_code error;
  const fs::path whole = fs::absolute(end_of_links(path), error);
  const fs::path place = fs::weakly_canonical(whole, error);
  return error ? whole.lexically_normal() : place;
}

bool are_same(const std::string& one, const std::string& other) {
  std::error_code error;
  const fs::file_status status = fs::status(one, error);
  if (fs::exists(status) && !fs::is_regular_file(status)) return false;
  return fs::equivalent(one, other, error) || place_of(one) == place_of(other);
}

}  // namespace

std::string end_of_links(const std::string& path) {
  fs::path end = path;
  std::error_code error;
  for (int links = 0; links < kMostLinks && fs::is_symlink(fs::symlink_status(end, error)); ++links) {
    end = end.parent_path() / fs::read_symlink(end, error);
  }
  return end.string();
}

Status check_apart(const NamedFile& written, std::span<const NamedFile> others) {
  for (const NamedFile& other : others) {
    if (written.path.empty() || other.path.empty() || !are_same(written.path, other.path)) continue;
    return fail(ErrorKind::invalid_argument,
                fmt::format("{} {} and {} {} name the same file, which would be overwritten", written.option,
                            written.path, other.option, other.path));
  }
  return {};
}

Status check_artifact_apart(const std::string& folder, std::span<const NamedFile> others) {
  for (const NamedFile& file : artifact_files("--out", folder)) LATHE_TRY_STATUS(check_apart(file, others));
  return {};
}

std::vector<NamedFile> artifact_files(const std::string& option, const std::string& folder) {
  std::vector<NamedFile> files;
  for (const std::string& name : artifact_file_names(folder))
    files.push_back({option, fmt::format("{}/{}", folder, name)});
  return files;
}

}  // namespace lathe
