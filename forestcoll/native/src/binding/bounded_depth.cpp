// Python binding of the search for depth-bounded trees.
#include "forestcoll/bounded_depth/bounded_depth.hpp"

#include <cstdint>
#include <utility>

#include "binding.hpp"

using namespace nanobind::literals;

namespace forestcoll {
namespace {

auto depth_bounded_trees_of(NodeId nodes, In<NodeId> tail, In<NodeId> head, In<Amount> capacity,
                            In<std::uint8_t> is_target, In<std::int32_t> root,
                            In<Amount> multiplicity, In<std::int32_t> parent, int tree_depth,
                            Amount bound_trees, Amount bound_capacity, std::int64_t looks,
                            Callback progress) {
  const Graph graph{nodes, arcs_of(tail, head, capacity)};
  const NodeMap<std::uint8_t> target(vector_of(is_target));
  check(graph, {NodeMap<Amount>(nodes, 0), target});
  const Batches batches{vector_of(root), vector_of(multiplicity), vector_of(parent)};
  const HeightLimit limit{tree_depth, bound_trees, bound_capacity, looks};
  LowTrees made = run(progress, [&](Progress p) {
    return depth_bounded_trees(graph, target, batches, limit, std::move(p));
  });
  const std::size_t size = batches.root.empty() ? 0 : made.parent.size() / batches.root.size();
  return std::tuple(rows_of(std::move(made.parent), size), array_of(std::move(made.tail)),
                    array_of(std::move(made.head)), array_of(std::move(made.first_path)),
                    array_of(std::move(made.path_trees)), array_of(std::move(made.first_hop)),
                    array_of(std::move(made.hop)));
}

}  // namespace

void bind_bounded_depth(nb::module_& m) {
  m.def("depth_bounded_trees", &depth_bounded_trees_of, "num_nodes"_a, "tail"_a, "head"_a,
        "capacity"_a, "is_target"_a, "root"_a, "multiplicity"_a, "parent"_a, "tree_depth"_a,
        "bound_trees"_a, "bound_capacity"_a, "looks"_a, "progress"_a = nb::none(),
        "Search for depth-bounded trees of little congestion, from given parents (ranks; if empty, "
        "trees are grown), until a bound or a number of examined links is reached. Return their "
        "parents, and the paths of their links: tail, head, first path, trees, first hop, hops.");
}

}  // namespace forestcoll
