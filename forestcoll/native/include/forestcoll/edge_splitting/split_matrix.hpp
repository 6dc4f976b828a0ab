// How much of each in-port of a switch continues to each out-port: a first guess.
#pragma once

#include <vector>

#include "forestcoll/common/types.hpp"

namespace forestcoll {

// A neighbour of the switch. Traffic between ports of one group need not pass the switch (they
// reach each other elsewhere), so the guess spends no capacity on it where it can.
struct Port {
  NodeId node;
  Amount in;   // capacity from the node into the switch
  Amount out;  // capacity from the switch to the node
  int group;
};

// Square, by port: at(i, j) units come in from port i and go out to port j.
class SplitMatrix {
 public:
  explicit SplitMatrix(std::size_t ports) : ports_(ports), amounts_(ports * ports, 0) {}

  std::size_t ports() const { return ports_; }
  Amount& at(std::size_t from, std::size_t to) { return amounts_[from * ports_ + to]; }
  Amount at(std::size_t from, std::size_t to) const { return amounts_[from * ports_ + to]; }

 private:
  std::size_t ports_;
  std::vector<Amount> amounts_;
};

// Every column adds up to its port's `out`, every row to at most its port's `in`. Shares are
// multiples of `quantum` where that is possible: whole batches of trees need no splitting later.
// Precondition: the sum of `in` is at least the sum of `out`.
SplitMatrix guess_split_matrix(const std::vector<Port>& ports, Amount quantum);

}  // namespace forestcoll
