#include "graph/simplify.h"

namespace lathe {

Graph simplify(const Graph& graph) {
  const Graph integers = integer_products(remove_identities(graph));
  const Graph products = remove_identities(integer_convolutions(remove_identities(integers)));
  return settle_loops(remove_dead(fold_batch_norms(fold_constants(products))));
}

}  // namespace lathe
