// What the parser behind the options cannot do: several values after one name that take none of the words
// that follow and are not meant.
#pragma once

#include <string>
#include <vector>

namespace lathe::cli {

// The words of a command line in which each further value after --input and --output has the name before it
// again: "--input a.npy b.npy m" becomes "--input a.npy --input b.npy m". A word is such a value where it is
// a file .npy or has the form NAME=1,3,640,640 or NAME=tokens:1..512,3. What follows "--" stays.
std::vector<std::string> repeat_options(const std::vector<std::string>& words);

}  // namespace lathe::cli
