// The ports of GPUs: an arc out of a GPU, and the GPUs to which it is the best first arc.
//
// A path is better with fewer arcs, and among equals with a wider first arc. Equally wide arcs
// share the GPUs that they lead to.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "baselines/multitree/switch_paths.hpp"
#include "forestcoll/common/bit_rows.hpp"
#include "forestcoll/common/indexed_vector.hpp"
#include "forestcoll/common/types.hpp"

namespace forestcoll::baselines {

// The turn of a port; a tree asks its ports of the least turn first. A turn is per_hop for each arc
// of the path, plus per_width for each bandwidth wider than the port's.
struct PortOrder {
  Amount per_hop = 0, per_width = 0;
};

struct Port {
  Amount turn;
  int kind;  // ports of a kind have one turn and, except the narrowest, one bandwidth
  int gpu, arc;
  NodeId head;
  int begin, end;     // the words of its GPUs,
  std::size_t words;  // stored from here on
};

class Ports {
 public:
  Ports(const GroveNetwork& network, const SwitchWays& ways, PortOrder order);

  const Port& operator[](int port) const { return ports_[port]; }
  BitSlice gpus(const Port& port) const {
    return {words_.data() + port.words, port.begin, port.end};
  }
  int count() const { return ports_.count(); }
  // For each turn, in ascending order, its first kind; then the number of kinds.
  const std::vector<int>& turns() const { return turns_; }
  int kinds() const { return turns_.back(); }
  // The range of a GPU's ports: by turn, then nearest GPUs first, then widest, then in the order of
  // arcs.
  std::pair<int, int> of(int gpu) const { return {first_[gpu], first_[gpu + 1]}; }

 private:
  void sort_into_kinds(const GroveNetwork& network);
  void keep(Port& port, const std::vector<int>& gpus);

  IndexedVector<Port> ports_;
  IndexedVector<int> first_{0};
  std::vector<int> turns_;
  // The words of the ports' GPUs, one after the other.
  std::vector<Word> words_;
};

}  // namespace forestcoll::baselines
