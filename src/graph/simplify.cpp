#include "graph/simplify.h"

namespace lathe {

Graph simplify(const Graph& graph) {
  return remove_dead(fold_batch_norms(fold_constants(remove_identities(graph))));
}

}  // namespace lathe
