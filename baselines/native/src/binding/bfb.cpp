// Python binding of breadth-first broadcasts.
#include "baselines/bfb/bfb.hpp"

#include <cstdint>
#include <utility>

#include "binding.hpp"
#include "forestcoll/binding/arrays.hpp"

using namespace nanobind::literals;

namespace forestcoll::baselines {
namespace {

BroadcastNetwork network_of(NodeId nodes, const In<NodeId>& tail, const In<NodeId>& head,
                            const In<Amount>& capacity, const In<Amount>& delay, Amount size) {
  const BroadcastNetwork network{{nodes, arcs_of(tail, head, capacity)}, vector_of(delay), size};
  check(network.graph, {NodeMap<Amount>(nodes, 0), NodeMap<std::uint8_t>(nodes, 1)});
  return network;
}

auto broadcast_times_of(NodeId nodes, In<NodeId> tail, In<NodeId> head, In<Amount> capacity,
                        In<Amount> delay, Amount size, In<NodeId> representative, In<NodeId> image,
                        int threads, Callback progress) {
  const auto network = network_of(nodes, tail, head, capacity, delay, size);
  const Symmetry symmetry{vector_of(representative), {image.data(), image.size()}};
  const BroadcastTimes found = run(progress, [&](Progress p) {
    return broadcast_times(network, symmetry, std::move(p), threads);
  });
  return std::tuple(array_of(std::vector<NodeId>(found.node)),
                    column(found.time, [](const Time& t) { return t.numerator; }),
                    column(found.time, [](const Time& t) { return t.denominator; }));
}

auto broadcast_of(NodeId nodes, In<NodeId> tail, In<NodeId> head, In<Amount> capacity,
                  In<Amount> delay, Amount size, In<NodeId> representative, In<NodeId> image,
                  Amount pieces, int threads, Callback progress) {
  const auto network = network_of(nodes, tail, head, capacity, delay, size);
  const Symmetry symmetry{vector_of(representative), {image.data(), image.size()}};
  Broadcast found = run(progress, [&](Progress p) {
    return broadcast(network, symmetry, pieces, std::move(p), threads);
  });
  return std::tuple(array_of(std::move(found.step)), array_of(std::move(found.source)),
                    array_of(std::move(found.tail)), array_of(std::move(found.head)),
                    array_of(std::move(found.first)), array_of(std::move(found.amount)));
}

}  // namespace

void bind_bfb(nb::module_& m) {
  m.def("broadcast_times", &broadcast_times_of, "num_nodes"_a, "tail"_a, "head"_a, "capacity"_a,
        "delay"_a, "size"_a, "representative"_a, "image"_a, "threads"_a = 1,
        "progress"_a = nb::none(),
        "Return the nodes that represent others, and for each, step by step, the least time of a "
        "breadth-first broadcast: numerators and denominators.");
  m.def(
      "broadcast", &broadcast_of, "num_nodes"_a, "tail"_a, "head"_a, "capacity"_a, "delay"_a,
      "size"_a, "representative"_a, "image"_a, "pieces"_a, "threads"_a = 1,
      "progress"_a = nb::none(),
      "Return the transfers of a breadth-first broadcast, every shard cut into so many pieces: "
      "step, source, tail, head, first piece and number of pieces, sorted in this order; the last "
      "two are empty if shards are not cut.");
}

}  // namespace forestcoll::baselines
