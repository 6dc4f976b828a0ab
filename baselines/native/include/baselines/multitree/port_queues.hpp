// The ports that a tree may send over, in order: by turn, and among equals those of the GPU that
// joined first.
//
// Without queues, a tree would look at the spent NICs of all its GPUs again in each step. So the
// ports of a kind wait in a queue of their own. If no port of the kind has units left, the queue is
// skipped at one look; otherwise a loop touches nothing but the queue and the units.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "baselines/multitree/ports.hpp"
#include "baselines/multitree/units_left.hpp"
#include "forestcoll/common/indexed_vector.hpp"

namespace forestcoll::baselines {

class PortQueues {
 public:
  explicit PortQueues(const Ports& ports) : queues_(ports.kinds()) {}

  // Appends the ports of a GPU that has just joined.
  void admit(const Ports& ports, int gpu);
  // The next port to ask in this step, if some port may have units.
  std::optional<int> front(const Ports& ports, const UnitsLeft& left);
  // Skips the front port, until the next step or for good.
  void pass(bool serves);
  // Begins a step.
  void rewind();

 private:
  struct Entry {
    int place;  // number among all ports ever admitted
    int port, arc;
  };
  struct Queue {
    std::vector<Entry> ports;
    std::size_t next = 0, kept = 0;  // between them are dropped ports

    // Skips ports without units in this step.
    void skip_spent(const UnitsLeft& left);
  };

  IndexedVector<Queue> queues_;
  int asked_ = -1;        // the kind of the port in front
  std::size_t turn_ = 0;  // all turns before it are spent
  int admitted_ = 0;
};

}  // namespace forestcoll::baselines
