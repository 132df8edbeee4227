// The searches of an experiment as a file keeps them, so that one that was ended goes on: a line of JSON for
// each, written when it is done.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"

namespace lathe {

// What was searched: whatever decides its outcome is part of it.
struct SearchKey {
  std::string table;  // its name, and the hash of its bytes; of a case its operator, space and machine
  std::string strategy;
  std::string cost_model;
  int64_t trials = 0;
  int batch = 0;
  int seed = 0;

  auto operator<=>(const SearchKey&) const = default;
};

struct KeptSearch {
  std::vector<double> seconds;  // of each trial; infinity: it failed
  // Of a live search, as many: what was charged from its beginning to the trial's end. Empty on tables.
  std::vector<double> charged = {};

  bool operator==(const KeptSearch&) const = default;
};

class SearchStore {
 public:
  // Takes over what the file holds; a last line that was not written whole is left out. An Error names the
  // file where it is no store.
  static Result<SearchStore> open(const std::string& path);

  // Null where that search is not done.
  const KeptSearch* find(const SearchKey& key) const;
  // Kept, and on disk when it returns.
  Status add(const SearchKey& key, KeptSearch search);

 private:
  explicit SearchStore(std::string path) : path_(std::move(path)) {}

  std::string path_;
  std::map<SearchKey, KeptSearch> searches_;
};

}  // namespace lathe
