// The first guess of a switch's splits: how much of each in-port continues to each out-port.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "forestcoll/common/types.hpp"

namespace forestcoll {

// A neighbour of the switch. Ports of one group reach each other without the switch, so the guess
// gives traffic between them no capacity where possible.
struct Port {
  NodeId node;
  Amount in;   // capacity from the node into the switch
  Amount out;  // capacity from the switch to the node
  int group;
};

// A square matrix by port: at(i, j) units come in from port i and go out to port j. It is sparse,
// row by row: a hub of thousands of ports passes on from each to some hundreds.
class SplitMatrix {
 public:
  struct Entry {
    std::size_t to;
    Amount amount;
  };

  explicit SplitMatrix(std::size_t ports) : rows_(ports) {}

  std::size_t ports() const { return rows_.size(); }
  Amount at(std::size_t from, std::size_t to) const {
    const auto entry = std::ranges::lower_bound(rows_[from], to, {}, &Entry::to);
    return entry == rows_[from].end() || entry->to != to ? 0 : entry->amount;
  }
  void add(std::size_t from, std::size_t to, Amount amount) {
    if (amount == 0) return;
    auto& row = rows_[from];
    const auto entry = std::ranges::lower_bound(row, to, {}, &Entry::to);
    if (entry == row.end() || entry->to != to) {
      row.insert(entry, {to, amount});
    } else if ((entry->amount += amount) == 0) {
      row.erase(entry);
    }
  }
  // The entries of an in-port, by out-port.
  std::span<const Entry> row(std::size_t from) const { return rows_[from]; }

 private:
  std::vector<std::vector<Entry>> rows_;
};

// Every column adds up to its port's `out`, every row to at most its port's `in`. Shares of equal
// ports are multiples of `quantum` where possible, those of unequal ports multiples of `batch`,
// since whole batches of trees need no splitting later. Equal groups exchange all with all up to a
// limit on their number, which `few` lowers to some tens.
//
// `rooted` has the trees of each port's node if the switch is all that joins the nodes, else it is
// empty. Then many unequal ports get the shares that trees through broadcasters take
// (common/broadcasters.hpp).
//
// Precondition: the sum of `in` is at least the sum of `out`.
SplitMatrix guess_split_matrix(const std::vector<Port>& ports, Amount quantum, bool few = false,
                               Amount batch = 1, std::span<const Amount> rooted = {});

}  // namespace forestcoll
