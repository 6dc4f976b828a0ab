// The chunks that links into a GPU could bring: a set for each link, and the union over the open
// links.
//
// Unions are stored in a tree with the links as leaves. Closing one of L links costs log L unions,
// and finding the F links that offer a chunk costs F log L looks.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "forestcoll/common/bit_rows.hpp"
#include "forestcoll/common/indexed_vector.hpp"

namespace forestcoll::baselines {

// Links are numbered by their index in the last list.
class Offers {
 public:
  // For chunks of at most so many words.
  explicit Offers(int words) : words_(words), nothing_(words, 0) {}

  // Begins with these links, all open. Each offers the chunks that its tail has and the GPU lacks.
  void begin(std::span<const Word* const> has, const Word* lacks);
  void close(int link);
  void open(int link);

  int links() const { return is_open_.count(); }
  bool is_open(int link) const { return is_open_[link] != 0; }
  // The offer of a link, open or not.
  const Word* of(int link) const { return offered_.data() + first_word(link); }
  // The union of all open offers.
  const Word* of_all_open() const { return unions_.data() + first_word(kRoot); }
  // The open links that offer a chunk, in their order.
  void find(int chunk, std::vector<int>& links) const { find_below(kRoot, chunk, links); }

 private:
  static constexpr int kRoot = 1;

  std::size_t first_word(int row) const {
    return static_cast<std::size_t>(row) * static_cast<std::size_t>(words_);
  }
  // The children of node n are 2 n and 2 n + 1; leaves follow the inner nodes.
  const Word* words_of(int node) const;
  void unite_children(int node);
  void unite_above(int link);
  void find_below(int node, int chunk, std::vector<int>& links) const;

  int words_;
  int inner_ = 2;  // number of inner nodes
  IndexedVector<Word> nothing_;
  std::vector<Word> offered_, unions_;
  IndexedVector<char> is_open_;
};

}  // namespace forestcoll::baselines
