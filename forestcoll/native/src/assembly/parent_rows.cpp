#include "forestcoll/assembly/parent_rows.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <new>

#if __has_include(<sys/mman.h>)
#include <sys/mman.h>
#endif

namespace forestcoll {

namespace {

// Larger blocks are fresh pages: malloc reuses no freed memory for them (glibc).
constexpr std::size_t kFresh = 32 << 20;
// Provided together. They are still in the cache when they are written.
constexpr std::size_t kStep = 128 << 10;
constexpr std::uintptr_t kPage = 4096;

// Whether the system has provided the pages that end in a range of memory. It takes two thirds of
// the time that the faults of their first writes take. Pages larger than kPage are refused, as are
// all by systems without the call. Then writes provide them.
bool provided([[maybe_unused]] const NodeId* begin, [[maybe_unused]] const NodeId* end) {
#ifdef MADV_POPULATE_WRITE
  const auto first = reinterpret_cast<std::uintptr_t>(begin) / kPage * kPage;
  const auto last = reinterpret_cast<std::uintptr_t>(end) / kPage * kPage;
  return madvise(reinterpret_cast<void*>(first), last - first, MADV_POPULATE_WRITE) == 0;
#else
  return false;
#endif
}

}  // namespace

ParentRows::~ParentRows() { std::free(data_); }

void ParentRows::grow() {
  // Every node has at least one tree, often one in all. What is not written takes no memory, but
  // to move a block takes time.
  room_ += std::max(room_, columns_) / 8 + columns_ + 1;
  void* larger = std::realloc(data_, room_ * columns_ * sizeof(NodeId));
  if (larger == nullptr) throw std::bad_alloc();
  data_ = static_cast<NodeId*>(larger);
}

void ParentRows::provide(std::size_t end) {
  const std::size_t all = room_ * columns_;
  if (all * sizeof(NodeId) < kFresh) {
    provided_ = all;
    return;
  }
  const std::size_t next = std::min(all, std::max(end, provided_ + kStep / sizeof(NodeId)));
  const bool done = provided(data_ + provided_, data_ + next);
  provided_ = done ? next : std::numeric_limits<std::size_t>::max();
}

}  // namespace forestcoll
