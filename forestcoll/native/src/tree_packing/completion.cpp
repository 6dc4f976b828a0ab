// Drops trees on overloaded arcs, then trees that waste capacity. If the dropped demand D cannot
// reach a node y in the remaining capacities, some set Y around y receives too little. Then a kept
// tree that enters Y more often than necessary is dropped. A tree with e entries into Y returns e
// to Y's ingress. It adds one to the demand from outside if its root is outside, so the gain is e -
// 1 (e if the root is in Y). Some kept tree always gains, as the whole demand is feasible.
//
// A node that has passed the test passes for good, because a tree dropped later leaves its own path
// to the node. So one pass over the nodes, with one flow, finds the trees to drop.
#include "forestcoll/tree_packing/completion.hpp"

#include <algorithm>
#include <utility>

#include "forestcoll/common/errors.hpp"
#include "forestcoll/common/flow.hpp"

namespace forestcoll {

namespace {

__extension__ using Wide = __int128;

class Completion {
 public:
  Completion(PartialPacking& packing, Progress& progress)
      : packing_(packing),
        progress_(progress),
        network_(packing.num_nodes()),
        dropped_(packing.num_nodes(), 0) {}

  std::vector<Batch> run() {
    relieve_overload();
    for (const Arc& arc : packing_.graph().arcs)
      arc_in_.push_back(network_.add(arc.tail, arc.head, 0));
    update_network();
    cover_cuts();
    auto batches = packing_.batches();
    const Graph rest{packing_.num_nodes(), network_.arcs()};
    for (Batch& batch : pack_cut_guided(rest, dropped_, progress_))
      batches.push_back(std::move(batch));
    std::ranges::stable_sort(batches, {}, &Batch::root);
    return batches;
  }

 private:
  void drop(int batch, Amount trees) {
    packing_.drop(batch, trees);
    dropped_[packing_.root(batch)] += trees;
  }

  void relieve_overload() {
    for (int arc = 0; arc < packing_.graph().arcs.count(); ++arc) {
      const NodeId head = packing_.arc(arc).head;
      for (int batch = 0; batch < packing_.num_batches() && packing_.left(arc) < 0; ++batch) {
        if (packing_.via(batch, head) != arc) continue;
        drop(batch, std::min(packing_.multiplicity(batch), -packing_.left(arc)));
      }
    }
  }

  // Parallel arcs share one arc of the network.
  void update_network() {
    for (const int arc : arc_in_) network_.set_capacity(arc, 0);
    for (int arc = 0; arc < arc_in_.count(); ++arc) {
      const Amount left = packing_.left(arc);
      network_.set_capacity(arc_in_[arc], network_.capacity(arc_in_[arc]) + left);
    }
  }

  void cover_cuts() {
    WarmFlow flow(network_, dropped_);
    for (NodeId v = 0; v < packing_.num_nodes(); ++v) {
      progress_(v, packing_.num_nodes());
      while (const Amount shortage = flow.settle(v)) {
        const NodeId root = cover(flow.source_side(), shortage);
        flow.set_supply(root, dropped_[root]);
        update_network();
      }
    }
  }

  // Drops copies of the tree that gains most for the sink side of the cut; returns its root.
  NodeId cover(const NodeMap<std::uint8_t>& source_side, Amount shortage) {
    const auto [gain, batch] = best_gain(source_side);
    if (gain <= 0) throw Infeasible("a set of nodes receives less than the trees rooted outside");
    drop(batch, std::min(packing_.multiplicity(batch), (shortage + gain - 1) / gain));
    return packing_.root(batch);
  }

  // The gain of one tree of a batch; the batch with the largest multiplicity x gain is dropped.
  std::pair<Amount, int> best_gain(const NodeMap<std::uint8_t>& source_side) const {
    const auto outside = [&](NodeId v) { return source_side[v] != 0; };
    IndexedVector<Amount> gain(packing_.num_batches(), 0);
    for (int batch = 0; batch < packing_.num_batches(); ++batch) {
      if (outside(packing_.root(batch))) --gain[batch];
    }
    for (NodeId v = 0; v < packing_.num_nodes(); ++v) {
      if (outside(v)) continue;
      for (int batch = 0; batch < packing_.num_batches(); ++batch) {
        const int arc = packing_.via(batch, v);
        if (arc >= 0 && outside(packing_.arc(arc).tail)) ++gain[batch];
      }
    }
    int best = 0;
    const auto worth = [&](int batch) { return Wide{gain[batch]} * packing_.multiplicity(batch); };
    for (int batch = 1; batch < packing_.num_batches(); ++batch) {
      if (worth(batch) > worth(best)) best = batch;
    }
    return {worth(best) > 0 ? gain[best] : 0, best};
  }

  PartialPacking& packing_;
  Progress& progress_;
  FlowNetwork network_;        // what the kept trees leave
  IndexedVector<int> arc_in_;  // the network
  NodeMap<Amount> dropped_;
};

}  // namespace

std::vector<Batch> complete(PartialPacking& packing, Progress& progress) {
  return Completion(packing, progress).run();
}

}  // namespace forestcoll
