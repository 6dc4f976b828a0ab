"""Values of rows by series, by size and by parameter."""

from dataclasses import replace

from experiments.results.row_groups import (
    failed_places,
    medians,
    quantity,
    scaling_series,
    series_of,
    sides,
    swept,
)
from experiments.results.rows import Status
from tests.experiments.samples import clusters_of_rows, rings_of_rows
from tests.experiments.samples import clusters_of_rows as some_rows


def test_sides_of_a_heat_map_may_be_parameters() -> None:
    """Of the topology, its defaults included, and of the method."""
    row = replace(some_rows()[0], topology="mi250:boxes=2", parameters={"effort": 3})
    found = [quantity(row, name) for name in ("boxes", "gpus_per_box", "effort", "colour")]
    assert found == [2, 16, 3, None]


def test_a_quantity_is_a_column_the_method_or_a_parameter() -> None:
    """Decimals are text in rows and numbers along a side; a word stays a word."""
    row = replace(some_rows()[0], parameters={"unit": "2.5", "mode": "fast", "rings": "8"})
    assert quantity(row, "gpus") == 16
    assert quantity(row, "method") == "forestcoll (unit=2.5, mode=fast, rings=8)"
    assert [quantity(row, name) for name in ("unit", "mode", "rings")] == [2.5, "fast", 8]
    assert quantity(replace(row, topology="mine.yaml"), "boxes") is None


def test_sides_are_the_parameters_of_some_row() -> None:
    rows = [replace(some_rows()[0], parameters={"effort": 1}), *some_rows()[1:]]
    assert {"effort", "boxes", "ib_switches", "gpus", "method"} <= sides(rows)
    assert "gpus_per_box" not in sides(rows)


def test_medians_are_of_repetitions_that_ended_well() -> None:
    """Of 1, 2 and 9 the median is 2; sizes come in order, one that timed out has none."""
    rows = some_rows()[3:]
    rows += [replace(rows[0], algbw_gb_s=rate) for rate in (1.0, 9.0)]
    rows[0] = replace(rows[0], algbw_gb_s=2.0)
    assert medians(rows[::-1], "algbw_gb_s") == {16: 2.0, 32: 200.0}
    assert list(medians(rows[::-1], "algbw_gb_s")) == [16, 32]
    sized = [replace(rows[0], size_bytes=8)]
    assert medians(sized, "k", along="size_bytes") == {8: 13}


def test_a_place_has_failed_if_no_repetition_ended_well() -> None:
    """One that died before it knew its size takes that of others on the same topology."""
    rows = some_rows()
    assert list(failed_places(rows)) == [("ring", 64)]
    again = replace(rows[-1], status=Status.OK, repetition=1)
    assert failed_places([*rows, again]) == {}
    rows[-1] = replace(rows[-1], status=Status.FAILED, gpus=None)
    assert failed_places(rows) == {("ring", 64): rows[-1]}
    assert list(failed_places(rows[-1:])) == [("ring", None)]


def test_series_come_in_the_order_of_their_rows() -> None:
    assert series_of(some_rows()[::-1]) == ["ring", "forestcoll"]


def test_names_leave_out_the_swept_parameter() -> None:
    """So that rows that differ by it alone are one line in one panel."""
    row = replace(
        some_rows()[0], topology="dgx_a100:boxes=2,ib_switches=4 without b0.gpu0", size_bytes=64
    )
    row = replace(row, parameters={"unit": "2.5", "mode": "fast"})
    method, unit = swept(row, "unit")
    assert (method.series, method.topology, unit) == ("forestcoll (mode=fast)", row.topology, 2.5)
    network, boxes = swept(row, "boxes")
    assert (network.topology, boxes) == ("dgx_a100:ib_switches=4 without b0.gpu0", 2)
    assert swept(row, "gpus")[0].topology == row.cluster
    assert swept(row, "gpus")[1] == 16
    assert swept(row, "size_bytes") == (row, 64)
    assert swept(row, "effort") == (row, None)


def clusters(*networks: tuple[str, int]) -> list[str]:
    row = replace(clusters_of_rows()[0], cluster="c")
    return [
        one.cluster
        for one in scaling_series([replace(row, topology=t, gpus=n) for t, n in networks])
    ]


def test_one_network_that_grows_stays_as_it_is() -> None:
    for rows in (clusters_of_rows(), rings_of_rows()):
        assert scaling_series(rows) == rows


def test_names_of_clusters_leave_out_the_growing_parameter() -> None:
    """Kautz graphs of degree 2 and 4: `nodes` is what grows."""
    kautz = "generalized_kautz"
    found = clusters(*((f"{kautz}:degree={d},nodes={n}", n) for d in (2, 4) for n in (5, 6)))
    assert found == [f"{kautz}:degree=2"] * 2 + [f"{kautz}:degree=4"] * 2


def test_networks_that_nothing_orders_are_each_by_itself() -> None:
    """Two tori of 16 GPUs; files, which have no parameters."""
    tori = ["torus:dims=4x4", "torus:dims=2x8"]
    assert clusters(*((name, 16) for name in tori)) == tori
    assert clusters(("a.yaml", 16), ("b.yaml", 16)) == ["a.yaml", "b.yaml"]
