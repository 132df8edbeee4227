// JITLink is used as a linker alone, without an ORC session: one object at a time needs no symbol tables
// shared between objects.
#include "runtime/loader.h"

#include <fmt/format.h>
#include <llvm/ExecutionEngine/JITLink/JITLink.h>
#include <llvm/ExecutionEngine/Orc/SymbolStringPool.h>

#include <cmath>
#include <cstring>
#include <map>
#include <utility>

#include "base/check.h"

namespace lathe {

namespace jitlink = llvm::jitlink;
namespace orc = llvm::orc;

namespace {

// What one link yields: filled in by LinkContext, read after jitlink::link returns, which is in-process and
// synchronous.
struct LinkOutcome {
  std::map<std::string, orc::ExecutorAddr, std::less<>> entries;
  jitlink::JITLinkMemoryManager::FinalizedAlloc memory;
  std::string failure;
};

// The symbols that generated code may leave undefined.
void* find_allowed_symbol(llvm::StringRef name) {
  using Function = double (*)(double);
  using Function2 = double (*)(double, double);
  if (name == "memcpy") return reinterpret_cast<void*>(&std::memcpy);
  if (name == "memset") return reinterpret_cast<void*>(&std::memset);
  for (const auto& [known, function] : {std::pair<const char*, Function>("exp", std::exp),
                                        {"log", std::log},
                                        {"tanh", std::tanh},
                                        {"erf", std::erf},
                                        {"sin", std::sin},
                                        {"cos", std::cos}})
    if (name == known) return reinterpret_cast<void*>(function);
  for (const auto& [known, function] :
       {std::pair<const char*, Function2>("pow", std::pow), {"fmod", std::fmod}})
    if (name == known) return reinterpret_cast<void*>(function);
  return nullptr;
}

class LinkContext : public jitlink::JITLinkContext {
 public:
  LinkContext(jitlink::JITLinkMemoryManager& memory, const Module& module, LinkOutcome& outcome)
      : JITLinkContext(nullptr), memory_(memory), module_(module), outcome_(outcome) {}

  jitlink::JITLinkMemoryManager& getMemoryManager() override { return memory_; }

  void notifyFailed(llvm::Error error) override { outcome_.failure = llvm::toString(std::move(error)); }

  void lookup(const LookupMap& symbols,
              std::unique_ptr<jitlink::JITLinkAsyncLookupContinuation> continuation) override {
    jitlink::AsyncLookupResult found;
    std::string unknown;
    for (const auto& [symbol, flags] : symbols) {
      void* address = find_allowed_symbol(*symbol);
      found[symbol] = {orc::ExecutorAddr::fromPtr(address), llvm::JITSymbolFlags::Exported};
      const std::string name = (*symbol).str();
      if (address == nullptr && (unknown.empty() || name < unknown)) unknown = name;
    }
    if (unknown.empty()) return continuation->run(std::move(found));
    continuation->run(llvm::createStringError(fmt::format(
        "the object refers to the symbol '{}': only memcpy, memset and functions of f64 are provided",
        unknown)));
  }

  llvm::Error notifyResolved(jitlink::LinkGraph& graph) override {
    for (const jitlink::Symbol* symbol : graph.defined_symbols()) {
      if (!symbol->hasName()) continue;
      const llvm::StringRef name = *symbol->getName();
      if (name == module_.kernel_symbol || name == module_.prepare_symbol) {
        outcome_.entries[name.str()] = symbol->getAddress();
      }
    }
    return llvm::Error::success();
  }

  void notifyFinalized(jitlink::JITLinkMemoryManager::FinalizedAlloc memory) override {
    outcome_.memory = std::move(memory);
  }

 private:
  jitlink::JITLinkMemoryManager& memory_;
  const Module& module_;
  LinkOutcome& outcome_;
};

Result<LatheKernel> find_entry(const LinkOutcome& outcome, const std::string& symbol) {
  const auto entry = outcome.entries.find(symbol);
  if (entry == outcome.entries.end()) {
    return fail(ErrorKind::load, fmt::format("the object does not define the entry '{}'", symbol));
  }
  return entry->second.toPtr<LatheKernel>();
}

std::unexpected<Error> not_an_object(llvm::Error error) {
  return fail(ErrorKind::load,
              fmt::format("the object cannot be read: {}", llvm::toString(std::move(error))));
}

}  // namespace

struct LoadedModule::Code {
  std::unique_ptr<jitlink::InProcessMemoryManager> manager;
  LinkOutcome outcome;

  ~Code() {
    if (outcome.memory) llvm::consumeError(manager->deallocate(std::move(outcome.memory)));
  }
};

LoadedModule::LoadedModule() = default;
LoadedModule::~LoadedModule() = default;
LoadedModule::LoadedModule(LoadedModule&&) noexcept = default;
LoadedModule& LoadedModule::operator=(LoadedModule&&) noexcept = default;

Result<LoadedModule> load_object(const Module& module) {
  const auto symbols = std::make_shared<orc::SymbolStringPool>();
  auto graph =
      jitlink::createLinkGraphFromObject(llvm::MemoryBufferRef(module.object, module.kernel_symbol), symbols);
  if (!graph) return not_an_object(graph.takeError());
  auto manager = jitlink::InProcessMemoryManager::Create();
  if (!manager) return not_an_object(manager.takeError());

  LoadedModule loaded;
  loaded.code_ = std::make_unique<LoadedModule::Code>();
  loaded.code_->manager = std::move(*manager);
  LinkOutcome& outcome = loaded.code_->outcome;
  jitlink::link(std::move(*graph), std::make_unique<LinkContext>(*loaded.code_->manager, module, outcome));
  if (!outcome.failure.empty()) return fail(ErrorKind::load, outcome.failure);
  LATHE_CHECK(static_cast<bool>(outcome.memory));

  LATHE_TRY(loaded.kernel_, find_entry(outcome, module.kernel_symbol));
  if (!module.prepare_symbol.empty()) {
    LATHE_TRY(loaded.prepare_, find_entry(outcome, module.prepare_symbol));
  }
  return loaded;
}

}  // namespace lathe
