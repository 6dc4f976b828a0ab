// The ports of GPUs: an arc out of a GPU, and the GPUs to which it is the best way.
//
// A way is the better the fewer arcs it has, and at a tie the wider its first arc is; arcs as wide
// as each other share the GPUs that they lead to.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "forestcoll/common/bit_rows.hpp"
#include "forestcoll/common/indexed_vector.hpp"
#include "forestcoll/common/types.hpp"
#include "forestcoll/multitree/switch_paths.hpp"

namespace forestcoll {

// Of a tree's ports those of the least turn are asked first: so much for each arc of the way, and
// so much for each bandwidth that is wider than the port's.
struct PortOrder {
  Amount per_hop = 0, per_width = 0;
};

struct Port {
  Amount turn;
  int kind;  // those of a kind have one turn and, but for the narrowest, one bandwidth
  int gpu, arc;
  NodeId head;
  int begin, end;     // the words that hold its GPUs,
  std::size_t words;  // kept from here on
};

class Ports {
 public:
  Ports(const GroveNetwork& network, const SwitchWays& ways, PortOrder order);

  const Port& operator[](int port) const { return ports_[port]; }
  BitSlice gpus(const Port& port) const {
    return {words_.data() + port.words, port.begin, port.end};
  }
  int count() const { return ports_.count(); }
  // Of each turn, from the least on, the first of its kinds; then the number of kinds.
  const std::vector<int>& turns() const { return turns_; }
  int kinds() const { return turns_.back(); }
  // From which to before which a GPU's ports go: by turn, then nearest GPUs first, then widest,
  // then in the order of arcs.
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

}  // namespace forestcoll
