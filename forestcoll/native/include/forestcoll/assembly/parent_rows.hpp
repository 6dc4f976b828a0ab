// Rows of parents, in a number not known in advance: the memory of an explicit forest.
//
// There may be gigabytes of them, and every page is written for the first time. Large blocks grow
// in place (mremap), so there is never a second copy.
#pragma once

#include <cstddef>
#include <span>
#include <utility>

#include "forestcoll/common/types.hpp"

namespace forestcoll {

class ParentRows {
 public:
  explicit ParentRows(std::size_t columns) : columns_(columns) {}
  ~ParentRows();
  ParentRows(const ParentRows&) = delete;
  ParentRows& operator=(const ParentRows&) = delete;

  // The next row, to be written. It counts once it is kept.
  std::span<NodeId> next() {
    if (rows_ == room_) grow();
    const std::size_t end = (rows_ + 1) * columns_;
    if (end > provided_) provide(end);
    return {data_ + rows_ * columns_, columns_};
  }
  void keep() { ++rows_; }

  std::size_t num_rows() const { return rows_; }
  // Hands over the rows, to be freed by std::free.
  NodeId* release() { return std::exchange(data_, nullptr); }

 private:
  void grow();
  void provide(std::size_t end);

  std::size_t columns_, rows_ = 0, room_ = 0;
  std::size_t provided_ = 0;  // entries whose pages are there already, or come when written
  NodeId* data_ = nullptr;
};

}  // namespace forestcoll
