// Files as a whole: what a write that fails leaves is the file that was there, or none. Files in parts, for a
// folder that is removed where one fails.
#pragma once

#include <fstream>
#include <initializer_list>
#include <string>
#include <string_view>

#include "base/result.h"

namespace lathe {

// Writes the parts, one after another, beside the file and puts that in its place. What cannot be put in
// place so is written as it is: a pipe, a device, a file in a folder that takes no new ones. The Error names
// the file.
Status write_file(const std::string& path, std::initializer_list<std::string_view> parts);

// A file that is written from its beginning on, where not all of it is in memory at once. What lay in its
// place is lost with the first part. Each Error calls the file `name`.
class FileInParts {
 public:
  static Result<FileInParts> create(const std::string& path, std::string name);

  Status add(std::string_view part);
  // Writes `head` over the beginning, and ends the file.
  Status finish(std::string_view head = {});

 private:
  FileInParts(const std::string& path, std::string name);

  std::ofstream file_;
  std::string name_;
};

}  // namespace lathe
