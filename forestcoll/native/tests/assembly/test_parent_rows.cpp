// Rows of parents: those written stay as blocks grow, and large blocks get their pages in advance.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "forestcoll/assembly/parent_rows.hpp"

#if __has_include(<sys/mman.h>)
#include <sys/mman.h>
#endif

#include "support/check.hpp"

using namespace forestcoll;

namespace parent_rows_tests {

// Row i is of entries i, i + 1 and so on.
void rows_stay_as_they_were_written(std::size_t columns, std::size_t count) {
  ParentRows rows(columns);
  for (std::size_t i = 0; i < count; ++i) {
    const auto row = rows.next();
    rows.keep();
    CHECK(row.size() == columns);
    for (std::size_t j = 0; j < columns; ++j) row[j] = static_cast<NodeId>(i + j);
  }
  CHECK(rows.num_rows() == count);
  NodeId* const data = rows.release();
  bool same = true;
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t j = 0; j < columns; ++j) {
      same &= data[i * columns + j] == static_cast<NodeId>(i + j);
    }
  }
  CHECK(same);
  std::free(data);
}

#ifdef MADV_POPULATE_WRITE
constexpr std::size_t kPage = 4096;

// Whether memory that was never written may get its pages in advance here.
bool is_supported() {
  void* const fresh =
      mmap(nullptr, kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(fresh != MAP_FAILED);
  const bool supported = madvise(fresh, kPage, MADV_POPULATE_WRITE) == 0;
  munmap(fresh, kPage);
  return supported;
}

// How many of the pages behind an address are there.
int pages_behind(const NodeId* address, std::size_t count) {
  const auto first = reinterpret_cast<std::uintptr_t>(address) / kPage * kPage;
  std::vector<unsigned char> is_there(count);
  CHECK(mincore(reinterpret_cast<void*>(first), count * kPage, is_there.data()) == 0);
  int there = 0;
  for (const unsigned char page : is_there) there += page & 1;
  return there;
}

// 128 kB at a time, before and after the block has grown. It does not for an eighth more rows than
// there are nodes.
void large_blocks_get_pages_in_advance() {
  if (!is_supported()) return;
  constexpr std::size_t kColumns = 4096;
  constexpr int kPages = 32;
  ParentRows rows(kColumns);
  const NodeId* const first = rows.next().data();
  const int there = pages_behind(first, std::size_t{2} * kPages);
  CHECK(there >= kPages && there <= kPages + 1);  // not all 64
  std::size_t in_advance = 0;
  for (std::size_t i = 0; i < kColumns / 4 * 5; ++i) {
    const auto row = rows.next();
    rows.keep();
    if (i == kColumns / 8 * 9) CHECK(row.data() == first + i * kColumns);
    in_advance += pages_behind(&row[kColumns - 1] + 2, 1) == 1 ? 1 : 0;
    row[0] = 0;
  }
  CHECK(in_advance > kColumns);
}
#endif

}  // namespace parent_rows_tests

TESTS(parent_rows) {
  parent_rows_tests::rows_stay_as_they_were_written(1, 10);
  parent_rows_tests::rows_stay_as_they_were_written(7, 1000);
  parent_rows_tests::rows_stay_as_they_were_written(3000, 3500);
#ifdef MADV_POPULATE_WRITE
  parent_rows_tests::large_blocks_get_pages_in_advance();
#endif
}
