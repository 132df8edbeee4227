#include "codegen/needed_extensions.h"

#include <algorithm>

#include "codegen/patterns.h"
#include "intrinsics/intrinsic.h"
#include "loop/walk.h"

namespace lathe {

std::vector<std::string> needed_extensions(const LoweredProgram& lowered, const Target& target) {
  std::vector<std::string_view> used;
  const auto look_at = [&](const Expr& e) {
    const Call* call = e.as<Call>();
    const Intrinsic* intrinsic = call == nullptr ? nullptr : find_intrinsic(call->intrinsic);
    const IntrinsicForm* form = intrinsic == nullptr ? nullptr : form_of(*intrinsic, target, e.type().lanes);
    if (form != nullptr) used.push_back(form->extension);
  };
  for (const Stmt& tree : {lowered.program.prepare, lowered.program.main}) {
    if (!tree) continue;
    for_each(tree, [&](const StmtNode& node) {
      if (const Store* store = std::get_if<Store>(&node.node)) for_each_once(store->value, look_at);
    });
  }
  std::vector<std::string> needed;
  for (const Extension& extension : kExtensions) {
    if (std::ranges::find(used, extension.name) != used.end()) needed.emplace_back(extension.name);
  }
  return needed;
}

}  // namespace lathe
