// Sets of numbered things, as rows of bits.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <ranges>

#include "forestcoll/common/indexed_vector.hpp"

namespace forestcoll {

using Word = std::uint64_t;
inline constexpr int kWordBits = 64;

inline Word bit_in_word(int bit) { return Word{1} << (bit % kWordBits); }

class BitRows {
 public:
  BitRows() = default;
  BitRows(int rows, int bits)
      : words_((bits + kWordBits - 1) / kWordBits),
        data_(static_cast<std::size_t>(rows) * static_cast<std::size_t>(words_), 0) {}

  int words() const { return words_; }
  const Word* row(int row) const { return data_.data() + at(row, 0); }
  Word* row(int row) { return data_.data() + at(row, 0); }
  bool test(int row, int bit) const { return (data_[at(row, bit)] & bit_in_word(bit)) != 0; }
  void set(int row, int bit) { data_[at(row, bit)] |= bit_in_word(bit); }
  void clear(int row, int bit) { data_[at(row, bit)] &= ~bit_in_word(bit); }

  bool meets(int row, const BitRows& other, int other_row) const {
    return std::ranges::any_of(std::views::iota(0, words_), [&](int w) {
      return (this->row(row)[w] & other.row(other_row)[w]) != 0;
    });
  }

 private:
  std::size_t at(int row, int bit) const {
    return static_cast<std::size_t>(row) * static_cast<std::size_t>(words_) +
           static_cast<std::size_t>(bit / kWordBits);
  }

  int words_ = 0;
  IndexedVector<Word> data_;
};

// The words of a row from `begin` to `end`, outside of which it is empty.
struct BitSlice {
  const Word* words;
  int begin, end;
};

inline bool meet(const BitSlice& slice, const Word* row) {
  for (int w = slice.begin; w < slice.end; ++w) {
    if ((slice.words[w - slice.begin] & row[w]) != 0) return true;
  }
  return false;
}

// The first bit from `from` on that is in all three, -1 if there is none.
inline int first_common(const BitSlice& slice, const Word* one, const Word* other, int from) {
  for (int w = std::max(slice.begin, from / kWordBits); w < slice.end; ++w) {
    Word common = slice.words[w - slice.begin] & one[w] & other[w];
    if (w == from / kWordBits) common &= ~Word{0} << (from % kWordBits);
    if (common != 0) return w * kWordBits + std::countr_zero(common);
  }
  return -1;
}

}  // namespace forestcoll
