// The ports that a tree may send over, in the order in which they are asked: by turn, and at a tie
// those of the GPU that joined first.
//
// A tree would look at the spent NICs of all its GPUs, again in each step. So the ports of a kind
// wait in a queue of their own, which is passed over at one look where no port of the kind has
// units left, and else in a loop that touches nothing but the queue and the units.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "forestcoll/common/indexed_vector.hpp"
#include "forestcoll/multitree/ports.hpp"
#include "forestcoll/multitree/units_left.hpp"

namespace forestcoll {

class PortQueues {
 public:
  explicit PortQueues(const Ports& ports) : queues_(ports.kinds()) {}

  // Puts the ports of a GPU that joined last of all behind the others.
  void admit(const Ports& ports, int gpu);
  // The port to ask next in this step, if any is left that may have units.
  std::optional<int> front(const Ports& ports, const UnitsLeft& left);
  // Passes over it, until the next step or for good.
  void pass(bool serves);
  // Begins a step.
  void rewind();

 private:
  struct Entry {
    int place;  // among all that were ever admitted
    int port, arc;
  };
  struct Queue {
    std::vector<Entry> ports;
    std::size_t next = 0, kept = 0;  // between them are those that do not serve any more

    // Passes over ports that have no units left in this step.
    void skip_spent(const UnitsLeft& left);
  };

  IndexedVector<Queue> queues_;
  int asked_ = -1;        // the kind of the port in front
  std::size_t turn_ = 0;  // with nothing left before it
  int admitted_ = 0;
};

}  // namespace forestcoll
