#include "forestcoll/path_recovery/direct_paths.hpp"

#include <algorithm>
#include <span>

#include "forestcoll/common/errors.hpp"
#include "link_numbers.hpp"

namespace forestcoll {

namespace {

constexpr NodeId kNoSwitch = -1;

// A path of a logical link: over a switch, or over a physical link alone.
struct Part {
  NodeId head;
  NodeId via;
  Amount amount;
};

bool are_direct(NodeId nodes, const std::vector<Split>& splits, const std::vector<Arc>& loads) {
  NodeMap<std::uint8_t> is_split(nodes, 0);
  for (const Split& split : splits) is_split[split.via] = 1;
  return std::ranges::none_of(
             splits,
             [&](const Split& split) { return is_split[split.from] || is_split[split.to]; }) &&
         std::ranges::none_of(loads, [](const Arc& load) { return load.tail == load.head; });
}

// The physical links, with the capacity that the splits leave of each.
std::vector<Arc> left_over(const Graph& physical, const std::vector<Split>& splits) {
  LinkNumbers numbers(physical.arcs.size());
  std::vector<Arc> left;
  left.reserve(physical.arcs.size());
  for (const Arc& arc : physical.arcs) {
    const auto number = static_cast<std::size_t>(numbers.add(arc.tail, arc.head));
    if (number == left.size()) left.push_back({arc.tail, arc.head, 0});
    left[number].capacity += arc.capacity;
  }
  const auto take = [&](NodeId tail, NodeId head, Amount amount) {
    const int number = numbers.find(tail, head);
    if (number < 0 || left[static_cast<std::size_t>(number)].capacity < amount) {
      throw InvalidInput("a split takes more than its links have");
    }
    left[static_cast<std::size_t>(number)].capacity -= amount;
  };
  for (const Split& split : splits) {
    if (split.amount <= 0) continue;
    take(split.from, split.via, split.amount);
    take(split.via, split.to, split.amount);
  }
  return left;
}

// The parts of all logical links by tail and then head. Those of one link are in the order of a
// replay: first the physical link, as nothing else is as short, then the splits as they come.
class PartTable {
 public:
  PartTable(NodeId nodes, const std::vector<Arc>& left, const std::vector<Split>& splits)
      : first_(nodes + 1, 0) {
    const auto each = [&](auto&& visit) {
      for (const Arc& arc : left) {
        if (arc.capacity > 0) visit(arc.tail, Part{arc.head, kNoSwitch, arc.capacity});
      }
      for (const Split& split : splits) {
        if (split.amount > 0) visit(split.from, Part{split.to, split.via, split.amount});
      }
    };
    each([&](NodeId tail, const Part&) { ++first_[tail + 1]; });
    for (NodeId v = 0; v < nodes; ++v) first_[v + 1] += first_[v];
    parts_.resize(first_[nodes]);
    NodeMap<std::size_t> next = first_;
    each([&](NodeId tail, const Part& part) { parts_[next[tail]++] = part; });
    for (NodeId v = 0; v < nodes; ++v) {
      std::ranges::stable_sort(from(v), {}, &Part::head);
    }
  }

  std::span<const Part> between(NodeId tail, NodeId head) {
    const auto found = std::ranges::equal_range(from(tail), head, {}, &Part::head);
    return {found.begin(), found.end()};
  }

 private:
  std::span<Part> from(NodeId tail) {
    return std::span(parts_).subspan(first_[tail], first_[tail + 1] - first_[tail]);
  }

  NodeMap<std::size_t> first_;
  std::vector<Part> parts_;
};

// Appends the paths of a load.
void append(const Arc& load, std::span<const Part> parts, Routes& routes) {
  const auto first = static_cast<std::size_t>(routes.first_path.back());
  Amount left = load.capacity;
  for (const Part& part : parts) {
    if (left <= 0) break;
    const Amount amount = std::min(part.amount, left);
    left -= amount;
    // Splits over one switch may come apart; they are one path.
    std::size_t path = first;
    const auto via = [&] {
      const auto hop = static_cast<std::size_t>(routes.first_hop[path]);
      const bool over_switch = routes.first_hop[path + 1] - routes.first_hop[path] == 3;
      return over_switch ? routes.hop[hop + 1] : kNoSwitch;
    };
    while (path < routes.multiplicity.size() && via() != part.via) ++path;
    if (path < routes.multiplicity.size()) {
      routes.multiplicity[path] += amount;
      continue;
    }
    routes.multiplicity.push_back(amount);
    routes.hop.push_back(load.tail);
    if (part.via != kNoSwitch) routes.hop.push_back(part.via);
    routes.hop.push_back(load.head);
    routes.first_hop.push_back(static_cast<std::int64_t>(routes.hop.size()));
  }
  if (left > 0) throw load_exceeds(load);
  routes.first_path.push_back(static_cast<std::int64_t>(routes.multiplicity.size()));
}

}  // namespace

std::optional<Routes> recover_direct_paths(const Graph& physical, const std::vector<Split>& splits,
                                           const std::vector<Arc>& loads) {
  if (!are_direct(physical.num_nodes, splits, loads)) return std::nullopt;
  PartTable table(physical.num_nodes, left_over(physical, splits), splits);
  Routes routes;
  routes.reserve(loads.size());
  for (const Arc& load : loads) append(load, table.between(load.tail, load.head), routes);
  return routes;
}

}  // namespace forestcoll
