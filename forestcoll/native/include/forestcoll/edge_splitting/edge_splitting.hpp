// Edge splitting: removal of switches, set by set (ForestColl 5.3, E.2).
//
// A split replaces capacity of (u, w) and (w, t) by capacity of a logical link (u, t). Each tight
// set is a problem of its own, from the outside in: only the switches that it holds directly are
// split, with its children contracted. Any real links behind a contracted split will do. The
// reason: in a tight set, d(Z) of a set Z inside a child depends only on the capacity that enters
// each node. A split does not change that.
#pragma once

#include <concepts>
#include <cstddef>
#include <span>

#include "forestcoll/common/arc_columns.hpp"
#include "forestcoll/common/progress.hpp"
#include "forestcoll/common/types.hpp"
#include "forestcoll/tight_sets/tight_sets.hpp"

namespace forestcoll {

// `amount` units from -> via -> to became units of the logical link (from, to).
struct Split {
  NodeId via;
  NodeId from;
  NodeId to;
  Amount amount;

  bool operator==(const Split&) const = default;
};

// Splits by columns (arc_columns.hpp) that lie elsewhere.
struct SplitView {
  std::span<const NodeId> via, from, to;
  std::span<const Amount> amount;

  std::size_t size() const { return via.size(); }
  Split operator[](std::integral auto index) const {
    const auto i = static_cast<std::size_t>(index);
    return {via[i], from[i], to[i], amount[i]};
  }
};

struct SplitColumns {
  Column<NodeId> via, from, to;
  Column<Amount> amount;

  std::size_t size() const { return via.size(); }
  void resize(std::size_t count) {
    via.resize(count);
    from.resize(count);
    to.resize(count);
    amount.resize(count);
  }
  Split operator[](std::integral auto index) const { return view()[index]; }
  void set(std::size_t place, const Split& split) {
    via[place] = split.via;
    from[place] = split.from;
    to[place] = split.to;
    amount[place] = split.amount;
  }
  SplitView view() const { return {via, from, to, amount}; }
};

// Limits of the matrix method, before a switch is split pair by pair. A guess that is not right
// after `most_exchanges` repairs is given up; below 0 nothing is guessed. With `sparse_exchange`,
// equal groups exchange with some others only, even where all with all would do: taller trees in
// less time.
struct RemovalOptions {
  int most_exchanges = 100;
  bool sparse_exchange = false;
};

struct SwitchRemoval {
  ArcColumns logical;      // between nodes that stay, sorted by (tail, head)
  SplitColumns splits;     // in the order in which they were made: the routing table
  int exact_switches = 0;  // switches whose matrix had to be built pair by pair
};

// Removes every node that is not a target.
//
// Preconditions: the graph carries the demand, that is, condition (C): every cut that holds a
// target receives the trees rooted outside it. Each removed node receives at least as much as it
// sends. The sets of the family are tight. Then the result carries the demand, and the sets are
// tight in it (Theorems 4 to 6).
//
// Throws Infeasible if the preconditions fail.
SwitchRemoval remove_switches(const Graph& graph, const Demand& demand, const Family& family,
                              Progress progress = {}, RemovalOptions options = {});

}  // namespace forestcoll
