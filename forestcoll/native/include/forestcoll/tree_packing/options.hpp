// Which in-arcs of a node each batch may take, as bits by place. Depends on the batch alone while
// the node is settled, so it is found once, when first asked, and again after the batch has moved.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "forestcoll/common/bit_rows.hpp"
#include "forestcoll/common/indexed_vector.hpp"

namespace forestcoll {

// A row of bits, one for each in-arc.
using Places = std::span<const Word>;

class Options {
 public:
  // Nothing is known of any batch, of a node with so many in-arcs.
  void begin(std::size_t places, int num_batches) {
    words_ = (places + kWordBits - 1) / kWordBits;
    known_.assign(num_batches, 0);
    bits_.resize(known_.size() * words_);
  }

  std::size_t words() const { return words_; }
  bool knows(int batch) const { return batch < known_.count() && known_[batch]; }
  void forget(int batch) {
    if (knows(batch)) known_[batch] = 0;
  }
  Places of(int batch) const { return std::span(bits_).subspan(row(batch), words_); }
  bool has(int batch, std::size_t place) const {
    return (bits_[row(batch) + place / kWordBits] >> (place % kWordBits) & 1) != 0;
  }
  // The batch is known from now on, with what the caller writes into its row.
  std::span<Word> start(int batch, int num_batches) {
    known_.resize(num_batches, 0);
    bits_.resize(known_.size() * words_);
    known_[batch] = 1;
    return std::span(bits_).subspan(row(batch), words_);
  }

 private:
  std::size_t row(int batch) const { return static_cast<std::size_t>(batch) * words_; }

  std::size_t words_ = 0;
  std::vector<Word> bits_;
  IndexedVector<std::uint8_t> known_;
};

}  // namespace forestcoll
