// Machine code into this process: links a module's relocatable object and gives its entry points. A link
// costs some tenths of a millisecond.
#pragma once

#include <memory>

#include "base/result.h"
#include "lathe/kernel_abi.h"
#include "module/module.h"

namespace lathe {

// Owns the code: its entry points are valid as long as it lives, its memory is given back with it. Movable.
class LoadedModule {
 public:
  LoadedModule();
  ~LoadedModule();
  LoadedModule(LoadedModule&&) noexcept;
  LoadedModule& operator=(LoadedModule&&) noexcept;

  LatheKernel kernel() const { return kernel_; }
  // Null where the module has no prepare entry.
  LatheKernel prepare() const { return prepare_; }

 private:
  friend Result<LoadedModule> load_object(const Module& module);
  struct Code;
  std::unique_ptr<Code> code_;
  LatheKernel kernel_ = nullptr;
  LatheKernel prepare_ = nullptr;
};

// Loads the module's object. A load error names what is wrong with it: not an object, a symbol that it refers
// to and that is neither its own nor memcpy or memset, an entry that it does not define. Thread-safe.
Result<LoadedModule> load_object(const Module& module);

}  // namespace lathe
