#include "base/scratch_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <stdlib.h>  // NOLINT(modernize-deprecated-headers): mkdtemp is POSIX
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string_view>

namespace lathe {

namespace fs = std::filesystem;

namespace {

// Long enough that nobody else calls a folder so: what an ended process left is found by its name.
constexpr std::string_view kPrefix = ".lathe-scratch-";
constexpr std::string_view kPattern = "XXXXXX";

// The folder opened, which its lock belongs to; -1 if it is not there. A program that is started has no part
// in the lock.
int open_folder(const std::string& path) {
  return open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

bool is_same_folder(int folder, const std::string& path) {
  struct stat opened = {};
  struct stat named = {};
  return fstat(folder, &opened) == 0 && lstat(path.c_str(), &named) == 0 && opened.st_dev == named.st_dev &&
         opened.st_ino == named.st_ino;
}

// Whether the folder is ours: not between its making and its lock taken for that of an ended process, which
// whoever does so locks before removing it. Where the file system has no such locks nobody gets one, and so
// nobody removes it.
bool take(int folder, const std::string& path) {
  if (flock(folder, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) return false;
  return is_same_folder(folder, path);
}

bool is_scratch_name(const std::string& name) {
  return name.starts_with(kPrefix) && name.size() == kPrefix.size() + kPattern.size();
}

std::unexpected<Error> cannot_write(const std::string& parent, int reason) {
  return fail(ErrorKind::io, fmt::format("the folder cannot be written: {}", std::strerror(reason)), parent);
}

// What is no folder and stands where one is to be made; empty where there is none.
std::string file_in_the_way(const std::string& folder) {
  fs::path path;
  for (const fs::path& part : fs::path(folder)) {
    path /= part;
    std::error_code ignored;
    const fs::file_status status = fs::status(path, ignored);
    if (fs::exists(status) && !fs::is_directory(status)) return path.string();
  }
  return {};
}

// Removes what processes left that were ended: their locks are free.
void remove_abandoned(const std::string& parent) {
  std::error_code error;
  for (fs::directory_iterator at(parent, error); !error && at != fs::directory_iterator();
       at.increment(error)) {
    if (!is_scratch_name(at->path().filename().string())) continue;
    const std::string path = at->path().string();
    const int folder = open_folder(path);
    if (folder < 0) continue;
    std::error_code ignored;
    if (flock(folder, LOCK_EX | LOCK_NB) == 0 && is_same_folder(folder, path)) fs::remove_all(path, ignored);
    close(folder);
  }
}

}  // namespace

Result<ScratchFolder> ScratchFolder::create(const std::string& parent) {
  std::error_code error;
  fs::create_directories(parent, error);
  if (error) {
    const std::string file = file_in_the_way(parent);
    return fail(
        ErrorKind::io,
        fmt::format("the folder cannot be made: {}", file.empty()     ? error.message()
                                                     : file == parent ? "a file of this name is in the way"
                                                                      : file + " is a file"),
        parent);
  }
  remove_abandoned(parent);
  // Another process may take ours for abandoned each time, but none is so fast so often.
  constexpr int kTries = 100;
  for (int i = 0; i < kTries; ++i) {
    std::string name = fmt::format("{}/{}{}", parent, kPrefix, kPattern);
    if (mkdtemp(name.data()) == nullptr) return cannot_write(parent, errno);
    const int folder = open_folder(name);
    if (folder < 0 && errno != ENOENT) {
      const int reason = errno;
      rmdir(name.c_str());
      return cannot_write(parent, reason);
    }
    if (folder < 0) continue;
    if (take(folder, name)) return ScratchFolder(std::move(name), folder);
    close(folder);
  }
  return fail(ErrorKind::io, "the folder cannot be written: what is made in it is gone at once", parent);
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  if (path_.empty()) return;
  fs::remove_all(path_, ignored);
  close(folder_);
}

}  // namespace lathe
