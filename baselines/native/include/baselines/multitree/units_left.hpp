// The units of arcs that are left in a step, and the ports of each kind that have any.
#pragma once

#include <vector>

#include "baselines/multitree/ports.hpp"
#include "forestcoll/common/indexed_vector.hpp"
#include "forestcoll/common/types.hpp"

namespace forestcoll::baselines {

class UnitsLeft {
 public:
  // The caller owns the network and must keep it alive.
  UnitsLeft(const GroveNetwork& network, const Ports& ports)
      : network_(network), kinds_(network.graph.arcs.count()), all_ports_(ports.kinds(), 0) {
    for (int port = 0; port < ports.count(); ++port) {
      const int arc = ports[port].arc;
      kinds_[arc].push_back(ports[port].kind);
      all_ports_[ports[port].kind] += network.graph.arcs[arc].capacity > 0 ? 1 : 0;
    }
  }

  // Begins a step.
  void refill() {
    left_.clear();
    for (const Arc& arc : network_.graph.arcs) left_.push_back(arc.capacity);
    ports_ = all_ports_;
  }
  void take(int arc) {
    if (--left_[arc] > 0) return;
    for (const int kind : kinds_[arc]) --ports_[kind];
  }
  bool of(int arc) const { return left_[arc] > 0; }
  // Whether any port of a kind has units.
  bool of_kind(int kind) const { return ports_[kind] > 0; }

 private:
  const GroveNetwork& network_;
  IndexedVector<std::vector<int>> kinds_;  // kinds of the ports of each arc
  IndexedVector<Amount> left_;
  IndexedVector<int> ports_, all_ports_;  // number of ports with units, by kind
};

}  // namespace forestcoll::baselines
