// Vectors indexed by signed numbers.
//
// Nodes, arcs, sets, items and batches are `int`s from 0 on, with -1 for none. std::vector needs an
// unsigned index; the conversion is written once, here.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <utility>
#include <vector>

namespace forestcoll {

// The sanitized build checks every index (_GLIBCXX_ASSERTIONS); the release build compiles it to a
// cast.
template <typename T>
class IndexedVector : public std::vector<T> {
  using Base = std::vector<T>;

 public:
  using Base::assign;
  using Base::Base;
  using Base::resize;
  IndexedVector() = default;
  IndexedVector(Base values) : Base(std::move(values)) {}
  explicit IndexedVector(int count) : Base(static_cast<std::size_t>(count)) {}
  IndexedVector(int count, const T& value) : Base(static_cast<std::size_t>(count), value) {}

  // As an index: all that is numbered fits an `int`.
  int count() const { return static_cast<int>(Base::size()); }
  void assign(int count, const T& value) { Base::assign(static_cast<std::size_t>(count), value); }
  void resize(int count, const T& value = T()) {
    Base::resize(static_cast<std::size_t>(count), value);
  }

  T& operator[](std::integral auto index) {
    return Base::operator[](static_cast<std::size_t>(index));
  }
  const T& operator[](std::integral auto index) const {
    return Base::operator[](static_cast<std::size_t>(index));
  }
};

// Room for so many more, at once, and never by less than doubling.
template <typename T>
void make_room(std::vector<T>& values, std::size_t more) {
  const std::size_t needed = values.size() + more;
  if (needed > values.capacity()) values.reserve(std::max(needed, 2 * values.capacity()));
}

// By node.
template <typename T>
using NodeMap = IndexedVector<T>;

}  // namespace forestcoll
