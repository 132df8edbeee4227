// A folder inside of another for what is being made, so that renaming it into the other is one step that
// happens whole or not at all. Owned by its object, and gone with it.
#pragma once

#include <string>

#include "base/result.h"

namespace lathe {

class ScratchFolder {
 public:
  // Makes the parent too where it is missing; an Error names it.
  static Result<ScratchFolder> create(const std::string& parent);

  ScratchFolder(ScratchFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  ScratchFolder& operator=(ScratchFolder&&) = delete;
  ~ScratchFolder();

  // The path of what has this name in it.
  std::string at(const std::string& name) const { return path_ + "/" + name; }

 private:
  explicit ScratchFolder(std::string path) : path_(std::move(path)) {}

  std::string path_;
};

}  // namespace lathe
