#include "baselines/bfb/bfb.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <span>
#include <string>
#include <utility>

#include "forestcoll/common/errors.hpp"
#include "forestcoll/common/parallel.hpp"

namespace forestcoll::baselines {

namespace {

using Hops = std::uint16_t;
constexpr Hops kFar = std::numeric_limits<Hops>::max();

// The links into every node, and the hops from every node to the given ones and their neighbours.
class Distances {
 public:
  Distances(const BroadcastNetwork& network, const std::vector<NodeId>& heads)
      : nodes_(network.graph.num_nodes), into_(nodes_), tails_of_(nodes_), hops_(nodes_) {
    if (network.delay.size() != network.graph.arcs.size() || network.size <= 0) {
      throw InvalidInput("there must be a delay for each arc, and shards must have a size");
    }
    if (nodes_ >= kFar) throw CapacityOverflow("more than 65534 nodes");
    for (std::size_t i = 0; i < network.graph.arcs.size(); ++i) {
      const Arc& arc = network.graph.arcs[i];
      if (arc.capacity <= 0) throw InvalidInput("a link must have bandwidth");
      into_[arc.head].push_back({arc.capacity, network.delay[i]});
      tails_of_[arc.head].push_back(arc.tail);
    }
    for (const NodeId head : heads) {
      search(head);
      for (const NodeId tail : tails_of_[head]) search(tail);
    }
  }

  NodeId num_nodes() const { return nodes_; }
  const std::vector<JobLink>& links_into(NodeId head) const { return into_[head]; }
  const std::vector<NodeId>& tails_of(NodeId head) const { return tails_of_[head]; }
  // Hops from every node to this one.
  std::span<const Hops> to(NodeId head) const { return hops_[head]; }

 private:
  void search(NodeId head) {
    std::vector<Hops>& row = hops_[head];
    if (!row.empty()) return;
    row.assign(static_cast<std::size_t>(nodes_), kFar);
    std::vector<NodeId> queue{head};
    row[static_cast<std::size_t>(head)] = 0;
    for (std::size_t i = 0; i < queue.size(); ++i) {
      const auto hops = static_cast<Hops>(row[static_cast<std::size_t>(queue[i])] + 1);
      for (const NodeId tail : tails_of_[queue[i]]) {
        Hops& there = row[static_cast<std::size_t>(tail)];
        if (there != kFar) continue;
        there = hops;
        queue.push_back(tail);
      }
    }
    if (std::ssize(queue) < nodes_) {
      throw Disconnected("node " + std::to_string(head) + " cannot be reached from all others");
    }
  }

  NodeId nodes_;
  NodeMap<std::vector<JobLink>> into_;
  NodeMap<std::vector<NodeId>> tails_of_;  // of the same links
  NodeMap<std::vector<Hops>> hops_;        // by source
};

// The sources that reach one node in one step.
struct Arrivals {
  std::vector<JobKind> kinds;
  std::vector<std::span<const NodeId>> sources;  // by kind
};

// The sources of one node; those of one step and kind are adjacent.
class Sources {
 public:
  Sources(const Distances& distances, NodeId head)
      : hops_(distances.to(head)),
        words_((distances.tails_of(head).size() + 63) / 64),
        usable_(hops_.size() * words_, 0) {
    const std::vector<NodeId>& tails = distances.tails_of(head);
    for (std::size_t link = 0; link < tails.size(); ++link) {
      const std::span<const Hops> there = distances.to(tails[link]);
      const std::uint64_t bit = std::uint64_t{1} << (link % 64);
      for (std::size_t v = 0; v < hops_.size(); ++v) {
        if (there[v] + 1 == hops_[v]) usable_[v * words_ + link / 64] |= bit;
      }
    }
    sort();
  }

  int steps() const { return static_cast<int>(first_.size()) - 2; }

  // Of steps from 1 on.
  Arrivals in(int step) const {
    Arrivals arrivals;
    const auto at = static_cast<std::size_t>(step);
    for (std::size_t i = first_[at], end; i < first_[at + 1]; i = end) {
      for (end = i + 1; end < first_[at + 1] && same(order_[i], order_[end]);) ++end;
      arrivals.kinds.push_back({static_cast<Amount>(end - i), links_of(order_[i])});
      arrivals.sources.push_back(std::span(order_).subspan(i, end - i));
    }
    return arrivals;
  }

 private:
  std::span<const std::uint64_t> mask(NodeId v) const {
    return std::span(usable_).subspan(static_cast<std::size_t>(v) * words_, words_);
  }
  bool same(NodeId a, NodeId b) const { return std::ranges::equal(mask(a), mask(b)); }

  std::vector<int> links_of(NodeId v) const {
    std::vector<int> links;
    for (std::size_t link = 0; link < 64 * words_; ++link) {
      if (mask(v)[link / 64] >> (link % 64) & 1) links.push_back(static_cast<int>(link));
    }
    return links;
  }

  // By step, then kind, then number.
  void sort() {
    const Hops farthest = *std::ranges::max_element(hops_);
    first_.assign(std::size_t{farthest} + 2, 0);
    for (const Hops hops : hops_) ++first_[std::size_t{hops} + 1];
    std::partial_sum(first_.begin(), first_.end(), first_.begin());
    order_.resize(hops_.size());
    std::vector<std::size_t> next(first_);
    for (std::size_t v = 0; v < hops_.size(); ++v) {
      order_[next[hops_[v]]++] = static_cast<NodeId>(v);
    }
    for (std::size_t step = 1; step + 1 < first_.size(); ++step) {
      const auto begin = order_.begin();
      std::stable_sort(begin + static_cast<std::ptrdiff_t>(first_[step]),
                       begin + static_cast<std::ptrdiff_t>(first_[step + 1]),
                       [this](NodeId a, NodeId b) {
                         return std::ranges::lexicographical_compare(mask(a), mask(b));
                       });
    }
  }

  std::span<const Hops> hops_;
  std::size_t words_;
  std::vector<std::uint64_t> usable_;  // by source, one bit for each link into the node
  std::vector<NodeId> order_;
  std::vector<std::size_t> first_;  // in order_, by step
};

std::vector<NodeId> representatives(const Symmetry& symmetry, NodeId nodes) {
  const auto size = static_cast<std::size_t>(nodes);
  if (symmetry.representative.size() != size ||
      (!symmetry.image.empty() && symmetry.image.size() != size * size)) {
    throw InvalidInput("a symmetry must have a representative and a row of images for each node");
  }
  std::vector<NodeId> nodes_to_solve;
  for (NodeId u = 0; u < nodes; ++u) {
    const NodeId of = symmetry.representative[u];
    if (of < 0 || of >= nodes || symmetry.representative[of] != of ||
        (of != u && symmetry.image.empty())) {
      throw InvalidInput("a representative must represent itself");
    }
    if (of == u) nodes_to_solve.push_back(u);
  }
  return nodes_to_solve;
}

struct Row {
  std::int32_t step;
  NodeId source;
  NodeId tail;
  NodeId head;
  Amount first;
  Amount amount;
};

// The pieces of a step, source after source and link after link.
void append_rows(const Arrivals& arrivals, const std::vector<std::vector<Amount>>& share,
                 const std::vector<NodeId>& tails, NodeId head, int step, Amount pieces,
                 std::vector<Row>& rows) {
  for (std::size_t kind = 0; kind < arrivals.kinds.size(); ++kind) {
    const std::vector<int>& links = arrivals.kinds[kind].links;
    std::size_t slot = 0;
    Amount left = share[kind][0];
    for (const NodeId source : arrivals.sources[kind]) {
      for (Amount first = 0; first < pieces;) {
        while (left == 0) left = share[kind][++slot];
        const Amount amount = std::min(left, pieces - first);
        const NodeId tail = tails[static_cast<std::size_t>(links[slot])];
        rows.push_back({step - 1, source, tail, head, first, amount});
        first += amount;
        left -= amount;
      }
    }
  }
}

std::vector<Row> rows_into(const Distances& distances, NodeId head, Amount size, Amount pieces) {
  std::vector<Row> rows;
  const Sources sources(distances, head);
  for (int step = 1; step <= sources.steps(); ++step) {
    const Arrivals arrivals = sources.in(step);
    const JobShares found =
        share_in_pieces(arrivals.kinds, distances.links_into(head), size, pieces);
    append_rows(arrivals, found.share, distances.tails_of(head), head, step, pieces, rows);
  }
  return rows;
}

// The rows of all nodes, step after step. Those of each node are already in this order.
class Sorter {
 public:
  Sorter(const NodeMap<std::vector<Row>>& solved, const Symmetry& symmetry)
      : solved_(solved), symmetry_(symmetry) {}

  // Sorts the rows of a step by source, and those of a source by tail and head. A counting sort by
  // source comes first, so only short runs are compared.
  const std::vector<Row>& in_step(std::int32_t step) {
    collect(step);
    end_.assign(solved_.size() + 1, 0);
    for (const Row& row : met_) ++end_[row.source + 1];
    std::partial_sum(end_.begin(), end_.end(), end_.begin());
    sorted_.resize(met_.size());
    for (const Row& row : met_) sorted_[end_[row.source]++] = row;
    auto begin = sorted_.begin();
    for (NodeId source = 0; source < std::ssize(solved_); ++source) {
      const auto end = sorted_.begin() + static_cast<std::ptrdiff_t>(end_[source]);
      std::sort(begin, end, [](const Row& a, const Row& b) {
        return ends(a.tail, a.head) < ends(b.tail, b.head);
      });
      begin = end;
    }
    return sorted_;
  }

 private:
  void collect(std::int32_t step) {
    met_.clear();
    const auto nodes = solved_.size();
    for (std::size_t u = 0; u < nodes; ++u) {
      const NodeId of = symmetry_.representative[u];
      const auto rows = std::ranges::equal_range(solved_[of], step, {}, &Row::step);
      if (static_cast<std::size_t>(of) == u) {
        met_.insert(met_.end(), rows.begin(), rows.end());
        continue;
      }
      const NodeId* image = symmetry_.image.data() + u * nodes;
      for (const Row& row : rows) {
        met_.push_back(
            {step, image[row.source], image[row.tail], image[row.head], row.first, row.amount});
      }
    }
  }

  const NodeMap<std::vector<Row>>& solved_;
  const Symmetry& symmetry_;
  std::vector<Row> met_, sorted_;
  NodeMap<std::size_t> end_;  // in sorted_, by source
};

Broadcast sorted(const NodeMap<std::vector<Row>>& solved, const Symmetry& symmetry, bool whole) {
  std::size_t total = 0;
  for (const NodeId of : symmetry.representative) total += solved[of].size();
  Broadcast result;
  for (auto* column : {&result.step, &result.source, &result.tail, &result.head}) {
    column->reserve(total);
  }
  for (auto* column : {&result.first, &result.amount}) column->reserve(whole ? 0 : total);
  Sorter sorter(solved, symmetry);
  for (std::int32_t step = 0; result.step.size() < total; ++step) {
    for (const Row& row : sorter.in_step(step)) {
      result.step.push_back(row.step);
      result.source.push_back(row.source);
      result.tail.push_back(row.tail);
      result.head.push_back(row.head);
      if (whole) continue;
      result.first.push_back(row.first);
      result.amount.push_back(row.amount);
    }
  }
  return result;
}

}  // namespace

BroadcastTimes broadcast_times(const BroadcastNetwork& network, const Symmetry& symmetry,
                               Progress progress, int threads) {
  BroadcastTimes result;
  result.node = representatives(symmetry, network.graph.num_nodes);
  const Distances distances(network, result.node);
  std::vector<std::vector<Time>> rows(result.node.size());
  in_parallel(
      threads, rows.size(), progress, [&](std::size_t first, std::size_t last, Progress& report) {
        for (std::size_t i = first; i < last; ++i) {
          const Sources sources(distances, result.node[i]);
          for (int step = 1; step <= sources.steps(); ++step) {
            rows[i].push_back(least_time(sources.in(step).kinds,
                                         distances.links_into(result.node[i]), network.size));
          }
          report(static_cast<std::int64_t>(i - first), static_cast<std::int64_t>(last - first));
        }
      });
  for (const auto& row : rows) result.steps = std::max(result.steps, static_cast<int>(row.size()));
  for (auto& row : rows) {
    row.resize(static_cast<std::size_t>(result.steps));
    result.time.insert(result.time.end(), row.begin(), row.end());
  }
  return result;
}

Broadcast broadcast(const BroadcastNetwork& network, const Symmetry& symmetry, Amount pieces,
                    Progress progress, int threads) {
  if (pieces < 1) throw InvalidInput("a shard must be cut into one piece at least");
  const std::vector<NodeId> nodes = representatives(symmetry, network.graph.num_nodes);
  const Distances distances(network, nodes);
  NodeMap<std::vector<Row>> solved(distances.num_nodes());
  in_parallel(
      threads, nodes.size(), progress, [&](std::size_t first, std::size_t last, Progress& report) {
        for (std::size_t i = first; i < last; ++i) {
          solved[nodes[i]] = rows_into(distances, nodes[i], network.size, pieces);
          report(static_cast<std::int64_t>(i - first), static_cast<std::int64_t>(last - first));
        }
      });
  return sorted(solved, symmetry, pieces == 1);
}

}  // namespace forestcoll::baselines
