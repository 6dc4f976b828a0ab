#include "forestcoll/tree_packing/known_cuts.hpp"

namespace forestcoll {

void KnownCuts::add(const NodeSet& set, Amount surplus) {
  const std::size_t number = surplus_.size();
  surplus_.push_back(surplus);
  further_.push_back(0);
  if (number % kWord == 0) {
    for (auto& row : in_) row.push_back(0);
    touched_.push_back(0);
  }
  for (std::size_t v = 0; v < in_.size(); ++v) {
    if (set[v]) in_[v][number / kWord] |= Word{1} << (number % kWord);
  }
}

void KnownCuts::begin(NodeId root) {
  std::ranges::fill(further_, 0);
  touched_ = row(root);
}

void KnownCuts::enter(NodeId tail, NodeId head, Amount trees) {
  for_each_entered_again(tail, head, [&](std::size_t set) {
    surplus_[set] -= trees;
    ++further_[set];
  });
  for (std::size_t i = 0; i < touched_.size(); ++i) touched_[i] |= row(head)[i];
}

void KnownCuts::give_back(Amount trees) {
  for (std::size_t set = 0; set < surplus_.size(); ++set) surplus_[set] += trees * further_[set];
}

}  // namespace forestcoll
