#include "baselines/multitree/ports.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>

namespace forestcoll::baselines {

namespace {

// Bandwidths distinguished within a turn, so that a tree has few kinds to choose from.
constexpr std::int32_t kWidths = 8;

// A port before its turn is known.
struct Draft {
  int hops, arc;
  std::vector<int> gpus;
};

// The ports of one GPU.
class Drafts {
 public:
  Drafts(const GroveNetwork& network, const SwitchWays& ways, int gpu)
      : network_(network), ways_(ways), gpu_(gpu), served_(network.gpus.count(), 0) {}

  // Nearest GPUs first, then widest, then in the order of arcs.
  std::vector<Draft> all() {
    std::vector<int> arcs = ways_.out(network_.gpus[gpu_]);
    const auto narrowness = [this](int arc) { return network_.narrowness[arc]; };
    std::ranges::stable_sort(arcs, {}, narrowness);
    for (std::size_t i = 0; i < arcs.size(); ++i) {
      if (i > 0 && narrowness(arcs[i]) != narrowness(arcs[i - 1])) serve();
      add(arcs[i]);
    }
    std::ranges::stable_sort(drafts_, {}, &Draft::hops);
    return std::move(drafts_);
  }

 private:
  // Narrower arcs get only the GPUs that wider ones do not lead to.
  void serve() {
    for (; serving_ < drafts_.size(); ++serving_) {
      for (const int gpu : drafts_[serving_].gpus) served_[gpu] = 1;
    }
  }

  void add(int arc) {
    const std::size_t first = drafts_.size();
    const int at_head = ways_.gpu_at(network_.graph.arcs[arc].head);
    const int begin = at_head < 0 ? 0 : at_head;
    const int end = at_head < 0 ? network_.gpus.count() : at_head + 1;
    for (int gpu = begin; gpu < end; ++gpu) {
      if (!served_[gpu] && ways_.leads(arc, gpu)) draft_of(arc, gpu, first).gpus.push_back(gpu);
    }
  }

  // An arc may lead to GPUs at several distances; each distance has a draft of its own.
  Draft& draft_of(int arc, int gpu, std::size_t first) {
    const int hops = ways_.hops(network_.gpus[gpu_], gpu);
    for (std::size_t i = first; i < drafts_.size(); ++i) {
      if (drafts_[i].hops == hops) return drafts_[i];
    }
    return drafts_.emplace_back(Draft{hops, arc, {}});
  }

  const GroveNetwork& network_;
  const SwitchWays& ways_;
  const int gpu_;
  IndexedVector<std::uint8_t> served_;
  std::vector<Draft> drafts_;
  std::size_t serving_ = 0;  // the first draft with unmarked GPUs
};

}  // namespace

Ports::Ports(const GroveNetwork& network, const SwitchWays& ways, PortOrder order) {
  for (int gpu = 0; gpu < network.gpus.count(); ++gpu) {
    for (const Draft& draft : Drafts(network, ways, gpu).all()) {
      const Amount turn =
          order.per_hop * draft.hops + order.per_width * network.narrowness[draft.arc];
      ports_.push_back({turn, 0, gpu, draft.arc, network.graph.arcs[draft.arc].head, 0, 0, 0});
      keep(ports_.back(), draft.gpus);
    }
    std::stable_sort(ports_.begin() + first_.back(), ports_.end(),
                     [](const Port& a, const Port& b) { return a.turn < b.turn; });
    first_.push_back(ports_.count());
  }
  sort_into_kinds(network);
}

void Ports::sort_into_kinds(const GroveNetwork& network) {
  const auto key = [&](const Port& port) {
    return std::pair(port.turn, std::min(network.narrowness[port.arc], kWidths - 1));
  };
  std::map<std::pair<Amount, std::int32_t>, int> kinds;
  for (const Port& port : ports_) kinds[key(port)];
  const Amount* last = nullptr;
  int kind = 0;
  for (auto& [of, number] : kinds) {
    if (last == nullptr || *last != of.first) turns_.push_back(kind);
    last = &of.first;
    number = kind++;
  }
  turns_.push_back(kind);
  for (Port& port : ports_) port.kind = kinds.at(key(port));
}

void Ports::keep(Port& port, const std::vector<int>& gpus) {
  port.begin = gpus.front() / kWordBits;
  port.end = gpus.back() / kWordBits + 1;
  port.words = words_.size();
  words_.resize(words_.size() + static_cast<std::size_t>(port.end - port.begin), 0);
  for (const int gpu : gpus) {
    words_[port.words + static_cast<std::size_t>(gpu / kWordBits - port.begin)] |= bit_in_word(gpu);
  }
}

}  // namespace forestcoll::baselines
