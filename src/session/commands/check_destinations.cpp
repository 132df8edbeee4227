#include "session/commands/check_destinations.h"

#include <fmt/format.h>
#include <stdlib.h>  // NOLINT(modernize-deprecated-headers): mkdtemp is POSIX

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "artifact/write/write_artifact.h"
#include "session/commands/check_apart.h"

namespace lathe {
namespace {

namespace fs = std::filesystem;

// Folders that were made for the test; they go with this object, unless somebody has put something there.
class MadeFolders {
 public:
  MadeFolders() = default;
  MadeFolders(const MadeFolders&) = delete;
  MadeFolders& operator=(const MadeFolders&) = delete;
  ~MadeFolders() {
    std::error_code ignored;
    for (auto path = made_.rbegin(); path != made_.rend(); ++path) fs::remove(*path, ignored);
  }

  // The folder and those above it.
  Status make(const std::string& folder) {
    fs::path path;
    for (const fs::path& part : fs::path(folder)) {
      path /= part;
      std::error_code error;
      if (fs::is_directory(path, error)) continue;
      const bool is_taken = fs::exists(path, error);
      error.clear();
      if (!is_taken && fs::create_directory(path, error)) made_.push_back(path);
      if (is_taken || error) {
        const std::string reason = !is_taken        ? error.message()
                                   : path == folder ? "a file of this name is in the way"
                                                    : path.string() + " is a file";
        return fail(ErrorKind::io, fmt::format("the folder cannot be made: {}", reason), folder);
      }
    }
    return {};
  }

 private:
  std::vector<fs::path> made_;
};

Status check_writable(const std::string& folder) {
  std::string name = folder + "/.check-XXXXXX";
  if (mkdtemp(name.data()) == nullptr) {
    return fail(ErrorKind::io, fmt::format("the folder cannot be written: {}", std::strerror(errno)), folder);
  }
  std::error_code ignored;
  fs::remove(name, ignored);
  return {};
}

Status check_file(const std::string& path) {
  std::error_code ignored;
  const fs::file_type type = fs::status(path, ignored).type();
  const bool is_new = type == fs::file_type::not_found;
  // A pipe's reader would take the test for all that comes.
  if (!is_new && type != fs::file_type::regular && type != fs::file_type::directory) return {};
  std::ofstream file(path, std::ios::app);
  if (!file) {
    return fail(ErrorKind::io, fmt::format("the file cannot be written: {}", std::strerror(errno)), path);
  }
  file.close();
  if (is_new) fs::remove(end_of_links(path), ignored);  // a link to no file yet stays one
  return {};
}

}  // namespace

Status check_destinations(const std::vector<std::string>& folders, const std::string& file) {
  MadeFolders made;
  for (const std::string& folder : folders) {
    LATHE_TRY_STATUS(made.make(folder));
    LATHE_TRY_STATUS(check_writable(folder));
    LATHE_TRY_STATUS(check_folder(folder));
  }
  return file.empty() ? Status() : check_file(file);
}

}  // namespace lathe
