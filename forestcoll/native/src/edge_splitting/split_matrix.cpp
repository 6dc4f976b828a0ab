#include "forestcoll/edge_splitting/split_matrix.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>

#include "forestcoll/common/broadcasters.hpp"
#include "forestcoll/common/errors.hpp"

namespace forestcoll {

namespace {

__extension__ using Wide = __int128;

// A complete exchange with more entries than this costs more in logical links than it gains.
constexpr std::size_t kMostEntries = 20'000;

// The same limit for traffic that only passes the switch. It is far higher, since passing to few
// ports makes trees tall.
constexpr std::size_t kMostPassing = 65'000;

// The limit if a sparse exchange is asked for; the GPUs of a box still all exchange.
constexpr std::size_t kFewEntries = 500;

// A sparse exchange with more entries than this has a stride more, up to the most strides. At 1,024
// boxes two strides make 64,000 entries, a link from each GPU for most; at 2,048 boxes 180,000.
constexpr std::size_t kMostStrided = 100'000;
constexpr int kMostStrides = 4;

// Whole batches between two ports on average, below which rounding to them is too far from
// proportion: trees would be deeper.
constexpr Amount kBatchesOfPair = 4;

// Ports by group, if all groups have equally many ports and all ports the same capacity.
std::optional<std::vector<std::vector<std::size_t>>> uniform_groups(
    const std::vector<Port>& ports) {
  std::map<int, std::vector<std::size_t>> by_group;
  for (std::size_t i = 0; i < ports.size(); ++i) {
    if (ports[i].in != ports[0].in || ports[i].out != ports[0].in) return std::nullopt;
    by_group[ports[i].group].push_back(i);
  }
  std::vector<std::vector<std::size_t>> groups;
  for (const auto& [group, members] : by_group) {
    if (members.size() != by_group.begin()->second.size()) return std::nullopt;
    groups.push_back(members);
  }
  if (groups.size() < 2) return std::nullopt;
  return groups;
}

// Offsets with one digit other than 0 in a base of so many digits, in order. Any group is at most
// that many of them away, one for each digit.
std::vector<std::size_t> strided_offsets(std::size_t groups, int strides) {
  const auto is_enough = [&](std::size_t base) {
    std::size_t reached = 1;
    for (int digit = 0; digit < strides; ++digit) reached *= base;
    return reached >= groups;
  };
  std::size_t base = 2;
  while (!is_enough(base)) ++base;
  std::vector<std::size_t> offsets;
  for (std::size_t stride = 1; stride < groups; stride *= base) {
    for (std::size_t digit = 1; digit < base && digit * stride < groups; ++digit) {
      offsets.push_back(digit * stride);
    }
  }
  return offsets;
}

// The offsets between groups: all, or so few that any group is two steps away, a short step and a
// long one. A third and a fourth stride make trees one hop deeper each, so they are added only for
// a number of links that takes longer to make than the hops are worth.
std::vector<std::size_t> circulant_offsets(std::size_t groups, std::size_t width, bool few) {
  std::vector<std::size_t> offsets;
  if (groups * (groups - 1) * width <= (few ? kFewEntries : kMostEntries)) {
    for (std::size_t offset = 1; offset < groups; ++offset) offsets.push_back(offset);
    return offsets;
  }
  for (int strides = 2; strides <= kMostStrides; ++strides) {
    offsets = strided_offsets(groups, strides);
    if (groups * offsets.size() * width <= kMostStrided) break;
  }
  return offsets;
}

// Cuts an amount into nearly equal parts, multiples of the quantum where the amount suffices.
std::vector<Amount> shares(Amount amount, std::size_t parts, Amount quantum) {
  const auto count = static_cast<Amount>(parts);
  if (amount / quantum < count) quantum = 1;
  const Amount units = amount / quantum;
  IndexedVector<Amount> shares(parts, units / count * quantum);
  for (Amount i = 0; i < units % count; ++i) shares[i] += quantum;
  shares.back() += amount % quantum;
  return shares;
}

// Each port sends the same amount to the port at its own index in every other group. So rails (GPU
// i of one box to GPU i of another) line up.
SplitMatrix circulant(const std::vector<std::vector<std::size_t>>& groups, Amount capacity,
                      Amount quantum, bool few) {
  const std::size_t width = groups.front().size();
  SplitMatrix matrix(groups.size() * width);
  const std::vector<std::size_t> offsets = circulant_offsets(groups.size(), width, few);
  const std::vector<Amount> share = shares(capacity, offsets.size(), quantum);
  for (std::size_t k = 0; k < offsets.size(); ++k) {
    for (std::size_t g = 0; g < groups.size(); ++g) {
      const auto& peer = groups[(g + offsets[k]) % groups.size()];
      for (std::size_t i = 0; i < width; ++i) matrix.add(groups[g][i], peer[i], share[k]);
    }
  }
  return matrix;
}

// Proportional shares rounded down, then completed: first between groups, then between any two
// ports, and at last back to the same port.
//
// In each round, ports of one kind may not be paired. Kinds are numbers below that of the ports.
class ProportionalFit {
 public:
  explicit ProportionalFit(const std::vector<Port>& ports)
      : ports_(ports), kind_(ports.size()), amount_(ports.size() * ports.size(), 0) {
    for (const Port& port : ports) {
      row_left_.push_back(port.in);
      column_left_.push_back(port.out);
    }
  }

  SplitMatrix fit() {
    std::map<int, std::size_t> kind_of_group;
    for (std::size_t i = 0; i < ports_.size(); ++i) {
      kind_[i] = kind_of_group.emplace(ports_[i].group, kind_of_group.size()).first->second;
    }
    count_kinds();
    fill_proportionally();
    complete(true);
    std::iota(kind_.begin(), kind_.end(), std::size_t{0});
    count_kinds();
    const bool all = ports_.size() * (ports_.size() - 1) <= kMostPassing;
    all ? fill_proportionally() : fill_by_offsets();
    complete(all);
    for (std::size_t j = 0; j < ports_.size(); ++j) {
      take(j, [](std::size_t) { return true; });
    }
    return matrix();
  }

 private:
  // The sum of all entries that involve ports of one kind.
  struct Share {
    Amount in = 0;   // allotted in their rows
    Amount out = 0;  // allotted in their columns
  };

  void give(std::size_t from, std::size_t to, Amount amount) {
    at(from, to) += amount;
    row_left_[from] -= amount;
    column_left_[to] -= amount;
    given_ += amount;
    of_kind_[kind_[from]].in += amount;
    of_kind_[kind_[to]].out += amount;
  }

  Amount& at(std::size_t from, std::size_t to) { return amount_[from * ports_.size() + to]; }

  SplitMatrix matrix() {
    SplitMatrix matrix(ports_.size());
    for (std::size_t i = 0; i < ports_.size(); ++i) {
      for (std::size_t j = 0; j < ports_.size(); ++j) matrix.add(i, j, at(i, j));
    }
    return matrix;
  }

  void count_kinds() {
    of_kind_.assign(ports_.size(), {});
    for (std::size_t i = 0; i < ports_.size(); ++i) {
      of_kind_[kind_[i]].in += ports_[i].in - row_left_[i];
      of_kind_[kind_[i]].out += ports_[i].out - column_left_[i];
    }
  }

  void fill_proportionally() {
    Amount in = 0, out = 0;
    std::vector<Share> own(ports_.size());
    const std::vector<Amount> rows = row_left_, columns = column_left_;
    for (std::size_t i = 0; i < ports_.size(); ++i) {
      in += rows[i];
      out += columns[i];
      own[kind_[i]].in += rows[i];
      own[kind_[i]].out += columns[i];
    }
    Amount divisor = 1;
    for (const std::size_t kind : kind_) {
      divisor = std::max({divisor, out - own[kind].out, in - own[kind].in});
    }
    for (std::size_t i = 0; i < ports_.size(); ++i) {
      for (std::size_t j = 0; j < ports_.size(); ++j) {
        if (kind_[i] == kind_[j]) continue;
        give(i, j, static_cast<Amount>(Wide{rows[i]} * columns[j] / divisor));
      }
    }
  }

  // Sends from each port to some others instead of all, so that any port is two steps away. For
  // traffic that only passes a switch of hundreds of ports.
  void fill_by_offsets() {
    const std::size_t count = ports_.size();
    const std::vector<std::size_t> offsets = circulant_offsets(count, 1, false);
    const std::vector<Amount> rows = row_left_, columns = column_left_;
    for (std::size_t i = 0; i < count; ++i) {
      for (const std::size_t offset : offsets) {
        const std::size_t j = (i + offset) % count;
        give(i, j, std::min(rows[i], columns[j]) / static_cast<Amount>(offsets.size()));
      }
    }
  }

  void complete(bool evenly) {
    for (std::size_t j = 0; j < ports_.size(); ++j) {
      const auto allowed = [this, j](std::size_t i) { return kind_[i] != kind_[j]; };
      if (evenly) spread(j, allowed);
      take(j, allowed);
      exchange(j);
    }
  }

  // After rounding, a column lacks a few units. They come from evenly spaced rows, one each.
  template <typename Allowed>
  void spread(std::size_t j, const Allowed& allowed) {
    const std::size_t count = ports_.size();
    const auto units =
        static_cast<std::size_t>(std::min<Amount>(column_left_[j], static_cast<Amount>(count) - 1));
    for (std::size_t step = 1; step <= units; ++step) {
      const std::size_t i = (j + step * count / (units + 1)) % count;
      if (row_left_[i] > 0 && allowed(i)) give(i, j, 1);
    }
  }

  // Fills a column from the rows after it, one after the other.
  template <typename Allowed>
  void take(std::size_t j, const Allowed& allowed) {
    const std::size_t count = ports_.size();
    for (std::size_t step = 1; step <= count && column_left_[j] > 0; ++step) {
      const std::size_t i = (j + step) % count;
      if (allowed(i)) give(i, j, std::min(row_left_[i], column_left_[j]));
    }
  }

  // Only rows of the column's own kind have capacity left. They cannot be paired with it directly,
  // so both trade with an entry of two other kinds. No trade makes another such entry. So each
  // entry is looked at once, and none while their sum shows that there is none.
  void exchange(std::size_t j) {
    const std::size_t count = ports_.size(), kind = kind_[j];
    std::size_t i = 0;
    for (std::size_t entry = 0; entry < count * count; ++entry) {
      while (i < count && (kind_[i] != kind || row_left_[i] == 0)) ++i;
      const Share& share = of_kind_[kind];
      if (column_left_[j] == 0 || i == count || given_ == share.in + share.out) return;
      const std::size_t row = entry / count, column = entry % count;
      if (kind_[row] == kind) {
        entry += count - 1 - column;
        continue;
      }
      if (kind_[column] == kind) continue;
      while (at(row, column) > 0 && column_left_[j] > 0 && i < count) {
        const Amount amount = std::min({at(row, column), row_left_[i], column_left_[j]});
        give(row, column, -amount);
        give(row, j, amount);
        give(i, column, amount);
        while (i < count && (kind_[i] != kind || row_left_[i] == 0)) ++i;
      }
    }
  }

  const std::vector<Port>& ports_;
  std::vector<std::size_t> kind_;  // by port
  std::vector<Share> of_kind_;
  Amount given_ = 0;
  std::vector<Amount> amount_;  // row by row
  std::vector<Amount> row_left_;
  std::vector<Amount> column_left_;
};

// Whether shares in whole batches come near enough to proportion: all ports are a number of them,
// and every pair of ports would get some.
bool holds_batches(const std::vector<Port>& ports, Amount batch) {
  const auto is_whole = [batch](const Port& port) {
    return port.in % batch == 0 && port.out % batch == 0;
  };
  Amount batches = 0;
  for (const Port& port : ports) batches += port.out / batch;
  const auto count = static_cast<Amount>(ports.size());
  return batch > 1 && batches >= kBatchesOfPair * count * (count - 1) &&
         std::ranges::all_of(ports, is_whole);
}

SplitMatrix multiplied(const SplitMatrix& matrix, Amount by) {
  SplitMatrix multiplied(matrix.ports());
  for (std::size_t i = 0; i < matrix.ports(); ++i) {
    for (const auto& [j, amount] : matrix.row(i)) multiplied.add(i, j, amount * by);
  }
  return multiplied;
}

// Few ports need no broadcasters: their trees fit by other methods.
constexpr std::size_t kFewPorts = 32;

// The shares that trees through broadcasters take, and proportional shares of the rest. Nothing if
// the ports have no room for such trees.
std::optional<SplitMatrix> shares_of_broadcasters(const std::vector<Port>& ports,
                                                  std::span<const Amount> rooted) {
  if (rooted.size() != ports.size() || ports.size() <= kFewPorts) return std::nullopt;
  std::vector<Amount> sent;
  for (const Port& port : ports) sent.push_back(port.in);
  const std::vector<BroadcastTrees> assigned = assign_broadcasters(sent, rooted);
  if (assigned.empty()) return std::nullopt;
  std::vector<Port> left = ports;
  std::vector<Amount> amount(ports.size() * ports.size(), 0);
  for (const BroadcastTrees& trees : assigned) {
    const NodeMap<NodeId> parent = parents_of(trees, static_cast<NodeId>(ports.size()));
    for (std::size_t to = 0; to < ports.size(); ++to) {
      if (parent[to] < 0) continue;
      const auto from = static_cast<std::size_t>(parent[to]);
      amount[from * ports.size() + to] += trees.multiplicity;
      left[from].in -= trees.multiplicity;
      left[to].out -= trees.multiplicity;
    }
  }
  const auto is_overdrawn = [](const Port& port) { return port.in < 0 || port.out < 0; };
  if (std::ranges::any_of(left, is_overdrawn)) return std::nullopt;
  SplitMatrix matrix = ProportionalFit(left).fit();
  for (std::size_t from = 0; from < ports.size(); ++from) {
    for (std::size_t to = 0; to < ports.size(); ++to) {
      matrix.add(from, to, amount[from * ports.size() + to]);
    }
  }
  return matrix;
}

// The shares of unequal ports.
SplitMatrix unequal(const std::vector<Port>& ports, std::span<const Amount> rooted) {
  if (auto matrix = shares_of_broadcasters(ports, rooted)) return std::move(*matrix);
  return ProportionalFit(ports).fit();
}

}  // namespace

SplitMatrix guess_split_matrix(const std::vector<Port>& ports, Amount quantum, bool few,
                               Amount batch, std::span<const Amount> rooted) {
  if (const auto groups = uniform_groups(ports)) {
    return circulant(*groups, ports.front().in, std::max<Amount>(quantum, 1), few);
  }
  if (!holds_batches(ports, batch)) return unequal(ports, rooted);
  std::vector<Port> in_batches = ports;
  for (Port& port : in_batches) {
    port.in /= batch;
    port.out /= batch;
  }
  std::vector<Amount> rooted_in_batches(rooted.begin(), rooted.end());
  for (Amount& trees : rooted_in_batches) trees /= batch;
  return multiplied(unequal(in_batches, rooted_in_batches), batch);
}

}  // namespace forestcoll
