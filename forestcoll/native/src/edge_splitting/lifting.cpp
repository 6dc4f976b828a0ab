#include "forestcoll/edge_splitting/lifting.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <span>
#include <utility>

#include "forestcoll/common/errors.hpp"

namespace forestcoll {

namespace {

__extension__ using Wide = __int128;

// The real links of a switch to one item, by node, with the remaining capacity.
struct Ports {
  std::vector<NodeId> node;
  std::vector<Amount> left;
  Amount total = 0;

  // Nodes come in order; parallel links are one port.
  void add(NodeId at, Amount capacity) {
    if (node.empty() || node.back() != at) {
      node.push_back(at);
      left.push_back(0);
    }
    left.back() += capacity;
    total += capacity;
  }
};

// Parts of amounts: a row of equal width for each, equal ones perhaps the same.
struct Shares {
  std::size_t width;
  std::vector<Amount> part = {};
  std::vector<std::size_t> first = {};  // the place of each amount's row

  Shares(std::size_t ports, std::size_t amounts) : width(ports) { first.reserve(amounts); }

  std::span<Amount> add_row() {
    first.push_back(part.size());
    part.resize(part.size() + width, 0);
    return row(first.size() - 1);
  }
  void add_last_row_again() { first.push_back(first.back()); }
  std::span<Amount> row(std::size_t row) { return std::span(part).subspan(first[row], width); }
  std::span<const Amount> row(std::size_t row) const {
    return std::span(part).subspan(first[row], width);
  }
};

// Distributes the ports of one item over its splits, one port after the other.
Shares fill_up(Ports& ports, std::span<const Amount> amounts) {
  Shares shares(ports.node.size(), amounts.size());
  std::size_t port = 0;
  for (const Amount amount : amounts) {
    const std::span<Amount> row = shares.add_row();
    for (Amount missing = amount; missing > 0;) {
      if (port == shares.width) throw InternalError("a split takes more than its ports have");
      const Amount part = std::min(missing, ports.left[port]);
      row[port] += part;
      missing -= part;
      if ((ports.left[port] -= part) == 0) ++port;
    }
  }
  return shares;
}

// a * b / c, rounded down. A 128-bit division takes many times as long as a 64-bit one.
Amount scaled(Amount a, Amount b, Amount c) {
  Amount product;
  if (!__builtin_mul_overflow(a, b, &product)) return product / c;
  return static_cast<Amount>(Wide{a} * b / c);
}

// Distributes the ports of one item over its splits in proportion: row s has an amount for each
// port, adding up to amounts[s].
Shares share_out(Ports& ports, std::span<const Amount> amounts) {
  const std::size_t width = ports.node.size();
  Shares shares(width, amounts.size());
  const std::vector<Amount> whole = ports.left;
  std::vector<Amount> missing(amounts.begin(), amounts.end());
  // Ports and splits are mostly equal, and a division takes long.
  Amount port = 0, amount = 0, part = 0;
  for (std::size_t s = 0; s < amounts.size(); ++s) {
    if (s > 0 && amounts[s] == amounts[s - 1]) {
      // Rows without a missing unit stay as they are, so equal ones are one.
      if (missing[s - 1] == 0) {
        shares.add_last_row_again();
      } else {
        const auto row = shares.add_row();
        std::ranges::copy(shares.row(s - 1), row.begin());
      }
      missing[s] = missing[s - 1];
    } else {
      const auto row = shares.add_row();
      for (std::size_t i = 0; i < width; ++i) {
        if (whole[i] != port || amounts[s] != amount) {
          port = whole[i], amount = amounts[s];
          part = scaled(port, amount, ports.total);
        }
        row[i] = part;
        missing[s] -= part;
      }
    }
    const auto row = shares.row(s);
    for (std::size_t i = 0; i < width; ++i) ports.left[i] -= row[i];
  }
  for (std::size_t s = 0; s < amounts.size(); ++s) {
    for (std::size_t step = 0; missing[s] > 0; ++step) {
      const std::size_t i = (s + step) % width;
      // At first one unit for each port, which spreads the rounded-off units; then as much as is
      // left.
      const Amount most = step < width ? 1 : missing[s];
      const Amount more = std::min({ports.left[i], missing[s], most});
      shares.row(s)[i] += more;
      ports.left[i] -= more;
      missing[s] -= more;
      if (step > 2 * width) throw InternalError("a split takes more than its ports have");
    }
  }
  return shares;
}

// Distributes the ports over the splits in whole batches: one from each port, or from the fullest
// of some neighbours, then more from the fullest ports. Splits that find no whole batch any more
// take what remains.
Shares share_batches(Ports& ports, std::span<const Amount> amounts, Amount batch) {
  const std::size_t width = ports.node.size();
  Shares shares(width, amounts.size());
  for (std::size_t s = 0; s < amounts.size(); ++s) shares.add_row();
  std::vector<Amount> missing(amounts.begin(), amounts.end());
  const auto give = [&](std::size_t row, std::size_t port, Amount part) {
    shares.row(row)[port] += part;
    ports.left[port] -= part;
    missing[row] -= part;
  };
  const auto give_fullest = [&](std::size_t row, std::size_t first, std::size_t end) {
    const auto among = std::span(ports.left).subspan(first, end - first);
    const auto fullest = std::ranges::max_element(among);
    if (*fullest < batch) return false;
    give(row, first + static_cast<std::size_t>(fullest - among.begin()), batch);
    return true;
  };
  for (std::size_t s = 0; s < amounts.size(); ++s) {
    const auto count = static_cast<std::size_t>(amounts[s] / batch);
    const std::size_t neighbours = (width + count - 1) / count;
    for (std::size_t first = 0; first < width; first += neighbours) {
      give_fullest(s, first, std::min(first + neighbours, width));
    }
    while (missing[s] > 0 && give_fullest(s, 0, width)) {
    }
  }
  std::size_t port = 0;
  for (std::size_t s = 0; s < amounts.size(); ++s) {
    while (missing[s] > 0) {
      if (port == width) throw InternalError("a split takes more than its ports have");
      give(s, port, std::min(missing[s], ports.left[port]));
      if (ports.left[port] == 0) ++port;
    }
  }
  return shares;
}

class Lift {
 public:
  Lift(Links& links, const Contraction& items, const IndexedVector<int>& targets_of, NodeId via,
       Amount batch)
      : links_(links), targets_of_(targets_of), via_(via), batch_(batch) {
    in_.ports.resize(items.num_items() + 1);
    out_.ports.resize(items.num_items() + 1);
    std::vector<std::pair<NodeId, Amount>> in, out;
    links.each_at(via, [&](const Arc& link) {
      if (link.head == via) in.emplace_back(link.tail, link.capacity);
      if (link.tail == via) out.emplace_back(link.head, link.capacity);
    });
    sort_in(std::move(in), items, in_.ports);
    sort_in(std::move(out), items, out_.ports);
  }

  // `splits` go from item to item.
  void make(std::span<const Split> splits) {
    if (!is_in_batches(splits)) batch_ = 1;
    share_out_side(splits, in_, &Split::from);
    share_out_side(splits, out_, &Split::to);
    const auto each = [&](const auto& visit) {
      for (std::size_t s = 0; s < splits.size(); ++s) {
        visit(in_.row(splits[s].from, s), out_.row(splits[s].to, s));
      }
    };
    std::size_t most = 0;
    each([&](const Row& from, const Row& to) { most += most_pairs(from, to); });
    links_.expect(most);
    each([&](const Row& from, const Row& to) { join(from, to); });
  }

 private:
  // The part of a split in the ports of an item.
  struct Row {
    const Ports* ports;
    std::span<const Amount> part;
  };
  // The links into the switch, or those out of it.
  struct Side {
    IndexedVector<Ports> ports;      // by item
    IndexedVector<Shares> shares;    // by item
    std::vector<std::size_t> place;  // of each split among those of its item

    Row row(int item, std::size_t split) const {
      return {&ports[item], shares[item].row(place[split])};
    }
  };

  // Whether shares are whole batches: every split has some for each port, and shares in proportion
  // would break them up.
  bool is_in_batches(std::span<const Split> splits) const {
    if (batch_ == 1) return false;
    const auto holds_batches = [this](const Split& split) {
      return has_batches(split.amount, in_.ports[split.from]) &&
             has_batches(split.amount, out_.ports[split.to]);
    };
    const auto stays_whole = [this](const Split& split) {
      return split.amount % (batch_ * std::ssize(in_.ports[split.from].node)) == 0 &&
             split.amount % (batch_ * std::ssize(out_.ports[split.to].node)) == 0;
    };
    if (!std::ranges::all_of(splits, holds_batches)) return false;
    return !std::ranges::all_of(in_.ports, are_equal) ||
           !std::ranges::all_of(out_.ports, are_equal) || !std::ranges::all_of(splits, stays_whole);
  }

  // Whether an amount is a number of batches, some for each port: not so few that most ports get
  // none, nor so many that it does not matter whether they are whole.
  bool has_batches(Amount amount, const Ports& ports) const {
    const auto count = std::ssize(ports.node);
    return amount % batch_ == 0 && 2 * (amount / batch_) >= count && amount / batch_ <= 64 * count;
  }

  static bool are_equal(const Ports& ports) {
    return std::ranges::adjacent_find(ports.left, std::ranges::not_equal_to{}) == ports.left.end();
  }

  static void sort_in(std::vector<std::pair<NodeId, Amount>> links, const Contraction& items,
                      IndexedVector<Ports>& by_item) {
    std::ranges::sort(links);
    for (const auto& [node, capacity] : links) {
      by_item[items.item_of(node)].add(node, capacity);
    }
  }

  void share_out_side(std::span<const Split> splits, Side& side, NodeId Split::* end) {
    // The amounts of all splits, item by item.
    IndexedVector<std::size_t> first(side.ports.size() + 1, 0);
    for (const Split& split : splits) ++first[split.*end + 1];
    std::partial_sum(first.begin(), first.end(), first.begin());
    IndexedVector<std::size_t> num(side.ports.size(), 0);
    std::vector<Amount> amounts(splits.size());
    side.place.reserve(splits.size());
    for (const Split& split : splits) {
      const int item = split.*end;
      side.place.push_back(num[item]++);
      amounts[first[item] + side.place.back()] = split.amount;
    }
    side.shares.reserve(side.ports.size());
    for (int item = 0; item < side.ports.count(); ++item) {
      side.shares.push_back(
          shared_out(item, side.ports[item], std::span(amounts).subspan(first[item], num[item])));
    }
  }

  // Proportions make rails of targets line up. If there are more ports than targets (a box whose
  // GPUs mostly forward), they would only make many small splits.
  Shares shared_out(int item, Ports& ports, std::span<const Amount> amounts) const {
    if (std::ssize(ports.node) > targets_of_[item]) return fill_up(ports, amounts);
    return batch_ > 1 ? share_batches(ports, amounts, batch_) : share_out(ports, amounts);
  }

  // The most pairs that a split can make: each uses up a port of one side at least, or of both if
  // these are equal.
  static std::size_t most_pairs(const Row& in, const Row& out) {
    const auto used = [](const Row& row) {
      return static_cast<std::size_t>(
          std::ranges::count_if(row.part, [](Amount a) { return a > 0; }));
    };
    return std::ranges::equal(in.part, out.part) ? used(in) : used(in) + used(out) - 1;
  }

  // Pairs equal amounts of both sides in the order of the nodes, so that rails line up. Shares in
  // batches differ from port to port, so there the rails come first.
  void join(const Row& in, const Row& out) {
    // Mostly port i of one side has as much as port i of the other.
    if (std::ranges::equal(in.part, out.part)) {
      for (std::size_t i = 0; i < in.part.size(); ++i) pair(in, i, out, i, in.part[i]);
      return;
    }
    in_left_.assign(in.part.begin(), in.part.end());
    out_left_.assign(out.part.begin(), out.part.end());
    if (batch_ > 1) join_rails(in, out);
    std::size_t i = 0, j = 0;
    while (i < in_left_.size() && j < out_left_.size()) {
      join(in, i, out, j);
      if (in_left_[i] == 0) {
        ++i;
      } else {
        ++j;
      }
    }
  }

  // Pairs the ports at the same place of both sides; of a side with more ports, several.
  void join_rails(const Row& in, const Row& out) {
    const std::size_t most = std::max(in.part.size(), out.part.size());
    for (std::size_t rail = 0; rail < most; ++rail) {
      join(in, rail * in.part.size() / most, out, rail * out.part.size() / most);
    }
  }

  // Pairs as much of two ports as both have left.
  void join(const Row& in, std::size_t i, const Row& out, std::size_t j) {
    const Amount amount = std::min(in_left_[i], out_left_[j]);
    pair(in, i, out, j, amount);
    in_left_[i] -= amount;
    out_left_[j] -= amount;
  }

  void pair(const Row& in, std::size_t i, const Row& out, std::size_t j, Amount amount) {
    if (amount > 0) links_.split({via_, in.ports->node[i], out.ports->node[j], amount});
  }

  Links& links_;
  const IndexedVector<int>& targets_of_;  // by item
  NodeId via_;
  Amount batch_;
  Side in_, out_;
  std::vector<Amount> in_left_, out_left_;
};

}  // namespace

void lift(std::span<const Split> splits, NodeId via, const Contraction& items,
          const IndexedVector<int>& targets_of, Amount batch, Links& links) {
  Lift(links, items, targets_of, via, batch).make(splits);
}

}  // namespace forestcoll
