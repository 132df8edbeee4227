// A folder inside of another for what is being made, so that renaming it into the other is one step that
// happens whole or not at all. Owned by its object, and gone with it; one whose process was ended before
// that is removed by the next that is made beside it. It is locked while its object lives, which tells them
// apart.
#pragma once

#include <string>
#include <utility>

#include "base/result.h"

namespace lathe {

class ScratchFolder {
 public:
  // Makes the parent too where it is missing; an Error names it.
  static Result<ScratchFolder> create(const std::string& parent);

  ScratchFolder(ScratchFolder&& other) noexcept
      : path_(std::exchange(other.path_, {})), folder_(std::exchange(other.folder_, -1)) {}
  ScratchFolder& operator=(ScratchFolder&&) = delete;
  ~ScratchFolder();

  // The path of what has this name in it.
  std::string at(const std::string& name) const { return path_ + "/" + name; }

 private:
  ScratchFolder(std::string path, int folder) : path_(std::move(path)), folder_(folder) {}

  std::string path_;
  int folder_;  // the descriptor that holds the lock
};

}  // namespace lathe
