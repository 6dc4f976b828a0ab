// Python binding of the paper's own algorithms.
#include "forestcoll/paper/paper.hpp"

#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

#include "binding.hpp"

using namespace nanobind::literals;

namespace forestcoll {
namespace {

auto paper_optimality(NodeId nodes, In<NodeId> tail, In<NodeId> head, In<Amount> capacity,
                      In<std::uint8_t> is_compute, Callback progress) {
  const Graph graph{nodes, arcs_of(tail, head, capacity)};
  const NodeMap<std::uint8_t> compute = vector_of(is_compute);
  paper::Optimality found = run(
      progress, [&](Progress p) { return paper::find_optimality(graph, compute, std::move(p)); });
  return std::tuple(found.numerator, found.denominator, array_of(std::move(found.cut)),
                    found.probes);
}

auto paper_split_off_switches(NodeId nodes, In<NodeId> tail, In<NodeId> head, In<Amount> capacity,
                              In<Amount> trees, In<std::uint8_t> target, Callback progress) {
  const Graph graph{nodes, arcs_of(tail, head, capacity)};
  const Demand demand{vector_of(trees), vector_of(target)};
  const paper::Removal removal = run(
      progress, [&](Progress p) { return paper::remove_switches(graph, demand, std::move(p)); });
  return removal_arrays(removal.logical, removal.splits);
}

// Batches (root, multiplicity, parents in rows) and the load of each link.
auto packing_arrays(const Graph& graph, const std::vector<Batch>& batches) {
  const auto nodes = static_cast<std::size_t>(graph.num_nodes);
  std::vector<NodeId> parents;
  parents.reserve(batches.size() * nodes);
  for (const Batch& batch : batches) {
    parents.insert(parents.end(), batch.parent.begin(), batch.parent.end());
  }
  return std::tuple(column(batches, [](const Batch& b) { return b.root; }),
                    column(batches, [](const Batch& b) { return b.multiplicity; }),
                    rows_of(std::move(parents), nodes), array_of(loads(graph.arcs, batches)));
}

auto paper_pack_trees(NodeId nodes, In<NodeId> tail, In<NodeId> head, In<Amount> capacity,
                      In<Amount> trees, Callback progress) {
  const Graph graph{nodes, arcs_of(tail, head, capacity)};
  const NodeMap<Amount> demand = vector_of(trees);
  const std::vector<Batch> batches =
      run(progress, [&](Progress p) { return paper::pack_trees(graph, demand, std::move(p)); });
  return packing_arrays(graph, batches);
}

}  // namespace

void bind_paper(nb::module_& m) {
  m.def("paper_optimality", &paper_optimality, "num_nodes"_a, "tail"_a, "head"_a, "capacity"_a,
        "is_compute"_a, "progress"_a = nb::none(),
        "Algorithm 1: return p, q, the cut and the probes: 1/x* = p / q in units of 1/capacity.");
  m.def("paper_split_off_switches", &paper_split_off_switches, "num_nodes"_a, "tail"_a, "head"_a,
        "capacity"_a, "trees"_a, "target"_a, "progress"_a = nb::none(),
        "Algorithm 3: return logical links (tail, head, capacity) and splits (via, from, to, "
        "amount).");
  m.def("paper_pack_trees", &paper_pack_trees, "num_nodes"_a, "tail"_a, "head"_a, "capacity"_a,
        "trees"_a, "progress"_a = nb::none(),
        "Algorithm 4: return batches of spanning out-trees (root, multiplicity, parents) and each "
        "link's load.\n\nLinks must be sorted by (tail, head).");
}

}  // namespace forestcoll
