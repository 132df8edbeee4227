// Whether a file that a command will write is another of its files: asked before it begins, as what is lost
// may have taken hours to measure.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace lathe {

// A file of a command, and the option or argument that names it; an empty path names none.
struct NamedFile {
  std::string option;
  std::string path;
};

// The path to which links lead from here, whether or not it exists; the path itself where it is no link.
std::string end_of_links(const std::string& path);

// An Error that names both where the file to be written is one of the others, by whatever path: links are
// followed. Devices and pipes take what they are given more than once.
Status check_apart(const NamedFile& written, std::span<const NamedFile> others);

// The same for each file of an artifact that will be written to this folder of the option --out.
Status check_artifact_apart(const std::string& folder, std::span<const NamedFile> others);
// Those files, of a folder that this option or argument names.
std::vector<NamedFile> artifact_files(const std::string& option, const std::string& folder);

}  // namespace lathe
