// What plug-ins of peers written in C++ have in common: a case's parameters, and the C face
// (lathe/peer_abi.h) over classes and exceptions. A plug-in defines describe_plugin and is linked with
// plugin.cpp.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "lathe/peer_abi.h"

namespace lathe::peers {

// Thrown where a form does not have a case; the text is the reason.
class Unsupported : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// A case's operator and its integer parameters, by their names in workload files.
class Entry {
 public:
  // `text` is the case's JSON object.
  explicit Entry(const std::string& text);

  const std::string& op() const { return op_; }
  // One that the operator must have.
  int64_t operator[](const std::string& name) const;
  int64_t value_or(const std::string& name, int64_t fallback) const;

 private:
  std::string op_;
  std::map<std::string, int64_t> parameters_;
};

// What a case is opened with.
struct Request {
  Entry entry;
  int cores = 1;
  std::span<const LathePeerInput> inputs;

  // The values of an input, which must have so many.
  std::span<const float> input(size_t place, int64_t elements) const;
};

// A case that is ready to run.
class Case {
 public:
  virtual ~Case() = default;
  virtual void run() = 0;
  // What the last run computed, row-major.
  virtual void read(std::span<float> output) = 0;
};

struct Form {
  const char* name;
  const char* algorithm;
  std::unique_ptr<Case> (*open)(const Request& request);
};

struct Plugin {
  std::string name;  // the library and its version
  std::vector<Form> forms;
};

// Defined by each plug-in; called once.
Plugin describe_plugin();

}  // namespace lathe::peers
