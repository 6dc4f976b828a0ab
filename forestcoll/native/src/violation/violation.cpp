#include "forestcoll/violation/violation.hpp"

#include <algorithm>
#include <limits>
#include <mutex>
#include <string>

#include "forestcoll/common/errors.hpp"
#include "forestcoll/common/flow.hpp"
#include "forestcoll/common/parallel.hpp"

namespace forestcoll {

namespace {

__extension__ using Wide = __int128;

void refuse_large_sums(const Graph& graph, const Demand& demand) {
  Wide capacity = 0, trees = 0;
  for (const Arc& arc : graph.arcs) capacity += arc.capacity;
  for (const Amount amount : demand.trees) trees += amount;
  constexpr Amount most = std::numeric_limits<Amount>::max() / 2;
  if (capacity > most || trees > most) {
    throw CapacityOverflow("the capacities or the trees add up beyond exact 64-bit arithmetic");
  }
}

}  // namespace

std::optional<Violation> first_violation(const FlowNetwork& network,
                                         std::span<const Amount> supplies,
                                         std::span<const NodeId> targets, Progress& progress,
                                         int threads) {
  std::mutex mutex;
  std::optional<Violation> found;
  in_parallel(
      threads, targets.size(), progress, [&](std::size_t first, std::size_t last, Progress& own) {
        WarmFlow flow(network, supplies);
        std::size_t at = first;
        while (at < last && flow.settle(targets[at]) == 0) {
          own(static_cast<std::int64_t>(++at - first), static_cast<std::int64_t>(last - first));
        }
        const std::lock_guard lock(mutex);
        // The first violation in the order of the targets wins, so the result does not depend on
        // threads.
        if (at < last && (!found || at < found->targets_before)) {
          found = Violation{at, flow.source_side()};
        }
      });
  return found;
}

std::optional<Violation> find_violation(const Graph& graph, const Demand& demand,
                                        std::size_t passed, Progress progress, int threads) {
  check(graph, demand, Roots::any);
  refuse_large_sums(graph, demand);
  const std::vector<NodeId> targets = demand.targets();
  passed = std::min(passed, targets.size());
  std::optional<Violation> found = first_violation(
      FlowNetwork(graph), demand.trees, std::span(targets).subspan(passed), progress, threads);
  if (found) found->targets_before += passed;
  return found;
}

}  // namespace forestcoll
