#include "forestcoll/assembly.hpp"

#include "forestcoll/expansion.hpp"
#include "forestcoll/factored.hpp"

namespace forestcoll {

std::vector<Batch> pack_forest(const Graph& graph, std::span<const Amount> trees,
                               const Family& family, Progress progress) {
  std::vector<Batch> batches;
  for (Expander forest(pack_sets(graph, trees, family, progress)); forest.next();) {
    const auto parents = forest.parents();
    batches.push_back({forest.root(), forest.multiplicity(), {parents.begin(), parents.end()}});
  }
  return batches;
}

}  // namespace forestcoll
