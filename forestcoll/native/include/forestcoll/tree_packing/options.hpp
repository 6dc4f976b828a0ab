// The in-arcs of a node that each batch may take, as bits by place. While the node is settled they
// depend on the batch alone. So they are computed when first needed, and again after the batch has
// moved.
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
  // Forgets everything, for a node with so many in-arcs.
  void begin(std::size_t places, int num_batches) {
    words_ = (places + kWordBits - 1) / kWordBits;
    known_.clear();
    grow(num_batches);
  }
  // Makes room for batches that were split off meanwhile.
  void grow(int num_batches) {
    known_.resize(num_batches, 0);
    bits_.resize(known_.size() * words_);
  }

  std::size_t words() const { return words_; }
  bool knows(int batch) const { return known_[batch] != 0; }
  void forget(int batch) { known_[batch] = 0; }
  Places of(int batch) const { return std::span(bits_).subspan(row(batch), words_); }
  bool has(int batch, std::size_t place) const {
    return (bits_[row(batch) + place / kWordBits] >> (place % kWordBits) & 1) != 0;
  }
  // Marks the batch as known; the caller writes its row.
  std::span<Word> start(int batch) {
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
