// Shared by the bindings of the core and of the baselines: arrays in and out, and running without
// the GIL.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "forestcoll/common/arc_columns.hpp"
#include "forestcoll/common/errors.hpp"
#include "forestcoll/common/progress.hpp"
#include "forestcoll/common/types.hpp"

namespace forestcoll {

namespace nb = nanobind;

template <typename T>
using In = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <typename T>
using Out = nb::ndarray<nb::numpy, T, nb::ndim<1>, nb::c_contig>;
template <typename T>
using OutRows = nb::ndarray<nb::numpy, T, nb::ndim<2>, nb::c_contig>;
using Callback = std::optional<nb::typed<nb::callable, void(std::int64_t, std::int64_t)>>;

template <typename T>
std::vector<T> vector_of(const In<T>& array) {
  return {array.data(), array.data() + array.size()};
}

template <typename Vector>
nb::capsule keep(Vector* data) {
  return nb::capsule(data, [](void* p) noexcept { delete static_cast<Vector*>(p); });
}

template <typename T, typename Allocator>
Out<T> array_of(std::vector<T, Allocator> values) {
  auto* data = new std::vector<T, Allocator>(std::move(values));
  return Out<T>(data->data(), {data->size()}, keep(data));
}

template <typename T>
OutRows<T> rows_of(std::vector<T> values, std::size_t columns) {
  const std::size_t rows = columns == 0 ? 0 : values.size() / columns;
  auto* data = new std::vector<T>(std::move(values));
  return OutRows<T>(data->data(), {rows, columns}, keep(data));
}

// A column of the rows for each getter, all in one pass: there may be millions of rows.
template <typename Rows, typename... Get>
auto columns(const Rows& rows, Get... get) {
  std::tuple<Column<std::decay_t<decltype(get(*rows.begin()))>>...> all{
      Column<std::decay_t<decltype(get(*rows.begin()))>>(rows.size())...};
  return std::apply(
      [&](auto&... column) {
        std::size_t place = 0;
        for (const auto& row : rows) {
          ((column[place] = get(row)), ...);
          ++place;
        }
        return std::tuple(array_of(std::move(column))...);
      },
      all);
}

template <typename Rows, typename Get>
auto column(const Rows& rows, Get get) {
  return std::get<0>(columns(rows, get));
}

// Arcs as given, without a copy: the arrays must stay alive.
inline ArcView view_of(const In<NodeId>& tail, const In<NodeId>& head, const In<Amount>& capacity) {
  if (tail.size() != head.size() || tail.size() != capacity.size()) {
    throw InvalidInput("tail, head and capacity differ in length");
  }
  return {
      {tail.data(), tail.size()}, {head.data(), head.size()}, {capacity.data(), capacity.size()}};
}

inline std::vector<Arc> arcs_of(const In<NodeId>& tail, const In<NodeId>& head,
                                const In<Amount>& capacity) {
  return arcs_of(view_of(tail, head, capacity));
}

inline auto arrays_of(ArcColumns arcs) {
  return std::tuple(array_of(std::move(arcs.tail)), array_of(std::move(arcs.head)),
                    array_of(std::move(arcs.capacity)));
}

// Runs without the GIL; takes it at intervals to report and to check for Ctrl-C.
template <typename Work>
auto run(const Callback& callback, Work work) {
  Progress progress([&callback](std::int64_t done, std::int64_t total) {
    nb::gil_scoped_acquire gil;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
    if (callback) (*callback)(done, total);
  });
  nb::gil_scoped_release release;
  return work(std::move(progress));
}

}  // namespace forestcoll
