#include "forestcoll/path_recovery/direct_paths.hpp"

#include <algorithm>
#include <functional>
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

bool are_direct(NodeId nodes, const SplitView& splits, const ArcView& loads) {
  NodeMap<std::uint8_t> is_split(nodes, 0);
  for (const NodeId via : splits.via) is_split[via] = 1;
  const auto is_whole = [&](NodeId node) { return is_split[node] == 0; };
  // The first load that does not lead to another node, if there is one.
  const auto stays = std::ranges::mismatch(loads.tail, loads.head, std::ranges::not_equal_to{});
  return std::ranges::all_of(splits.from, is_whole) && std::ranges::all_of(splits.to, is_whole) &&
         stays.in1 == loads.tail.end();
}

// The physical links, with the capacity that the splits leave of each.
std::vector<Arc> left_over(const Graph& physical, const SplitView& splits) {
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
  for (std::size_t s = 0; s < splits.size(); ++s) {
    const Split split = splits[s];
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
  PartTable(NodeId nodes, const std::vector<Arc>& left, const SplitView& splits)
      : first_(nodes + 1, 0) {
    const auto each = [&](auto&& visit) {
      for (const Arc& arc : left) {
        if (arc.capacity > 0) visit(arc.tail, Part{arc.head, kNoSwitch, arc.capacity});
      }
      for (std::size_t s = 0; s < splits.size(); ++s) {
        const Split split = splits[s];
        if (split.amount > 0) visit(split.from, Part{split.to, split.via, split.amount});
      }
    };
    each([&](NodeId tail, const Part&) { ++first_[tail + 1]; });
    for (NodeId v = 0; v < nodes; ++v) first_[v + 1] += first_[v];
    parts_.resize(first_[nodes]);
    NodeMap<std::size_t> next = first_;
    each([&](NodeId tail, const Part& part) { parts_[next[tail]++] = part; });
    for (NodeId v = 0; v < nodes; ++v) sort_by_head(from(v));
  }

  // Links are mostly asked for in order, so the search begins behind the last one found.
  std::span<const Part> between(NodeId tail, NodeId head) {
    const auto row = from(tail);
    if (tail != last_tail_ || (place_ > 0 && row[place_ - 1].head >= head)) place_ = 0;
    last_tail_ = tail;
    const auto rest = row.subspan(place_);
    auto begin = rest.begin();
    if (begin != rest.end() && begin->head < head) {
      begin = std::ranges::lower_bound(rest, head, {}, &Part::head);
    }
    auto end = begin;
    while (end != rest.end() && end->head == head) ++end;
    place_ += static_cast<std::size_t>(end - rest.begin());
    return {begin, end};
  }

 private:
  // Mostly one run or two in order: the splits of one switch go head by head.
  static void sort_by_head(std::span<Part> row) {
    const auto run = std::ranges::is_sorted_until(row, {}, &Part::head);
    if (run == row.end()) return;
    if (std::ranges::is_sorted(run, row.end(), {}, &Part::head)) {
      std::ranges::inplace_merge(row, run, {}, &Part::head);
    } else {
      std::ranges::stable_sort(row, {}, &Part::head);
    }
  }

  std::span<Part> from(NodeId tail) {
    return std::span(parts_).subspan(first_[tail], first_[tail + 1] - first_[tail]);
  }

  NodeMap<std::size_t> first_;
  Column<Part> parts_;
  NodeId last_tail_ = -1;
  std::size_t place_ = 0;  // in the row of that tail, behind the last link found
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

std::optional<Routes> recover_direct_paths(const Graph& physical, const SplitView& splits,
                                           const ArcView& loads) {
  if (!are_direct(physical.num_nodes, splits, loads)) return std::nullopt;
  PartTable table(physical.num_nodes, left_over(physical, splits), splits);
  Routes routes;
  routes.reserve(loads.size());
  for (std::size_t i = 0; i < loads.size(); ++i) {
    const Arc load = loads[i];
    append(load, table.between(load.tail, load.head), routes);
  }
  return routes;
}

}  // namespace forestcoll
