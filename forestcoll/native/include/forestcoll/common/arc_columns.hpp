// Arcs by columns: an array for each of tail, head and capacity.
//
// Stages hand millions of arcs on to the next one. Python has them as such arrays, so they need not
// be copied. A first write to new memory takes as long as several passes over it; so columns are
// not set to 0, and are given their final size at once.
#pragma once

#include <concepts>
#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "forestcoll/common/types.hpp"

namespace forestcoll {

// Leaves new elements unset.
template <typename T>
struct UnsetAllocator : std::allocator<T> {
  template <typename U>
  struct rebind {
    using other = UnsetAllocator<U>;
  };
  UnsetAllocator() = default;
  template <typename U>
  UnsetAllocator(const UnsetAllocator<U>&) {}

  template <typename U>
  void construct(U* place) {
    ::new (static_cast<void*>(place)) U;
  }
  template <typename U, typename... Values>
  void construct(U* place, Values&&... values) {
    ::new (static_cast<void*>(place)) U(std::forward<Values>(values)...);
  }
};

// A vector whose resize() leaves new elements unset: each must be written before it is read.
template <typename T>
using Column = std::vector<T, UnsetAllocator<T>>;

// Arcs that lie elsewhere.
struct ArcView {
  std::span<const NodeId> tail, head;
  std::span<const Amount> capacity;

  std::size_t size() const { return tail.size(); }
  Arc operator[](std::integral auto index) const {
    const auto i = static_cast<std::size_t>(index);
    return {tail[i], head[i], capacity[i]};
  }
  ArcView first(std::size_t count) const {
    return {tail.first(count), head.first(count), capacity.first(count)};
  }
};

struct ArcColumns {
  Column<NodeId> tail, head;
  Column<Amount> capacity;

  ArcColumns() = default;
  explicit ArcColumns(std::span<const Arc> arcs) {
    resize(arcs.size());
    for (std::size_t i = 0; i < arcs.size(); ++i) set(i, arcs[i]);
  }
  explicit ArcColumns(const ArcView& arcs)
      : tail(arcs.tail.begin(), arcs.tail.end()),
        head(arcs.head.begin(), arcs.head.end()),
        capacity(arcs.capacity.begin(), arcs.capacity.end()) {}

  std::size_t size() const { return tail.size(); }
  void resize(std::size_t count) {
    tail.resize(count);
    head.resize(count);
    capacity.resize(count);
  }
  Arc operator[](std::integral auto index) const { return view()[index]; }
  void set(std::size_t place, const Arc& arc) {
    tail[place] = arc.tail;
    head[place] = arc.head;
    capacity[place] = arc.capacity;
  }
  ArcView view() const { return {tail, head, capacity}; }
};

// Throws InvalidInput as check() of the same arcs row by row.
void check(NodeId num_nodes, const ArcView& arcs, const Demand& demand);

// Whether arcs are sorted by (tail, head), each once, and none without capacity.
bool are_merged(const ArcView& arcs);

// The same arcs row by row.
inline std::vector<Arc> arcs_of(const ArcView& columns) {
  std::vector<Arc> arcs(columns.size());
  for (std::size_t i = 0; i < arcs.size(); ++i) arcs[i] = columns[i];
  return arcs;
}

}  // namespace forestcoll
