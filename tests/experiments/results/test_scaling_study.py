"""Different networks of one size are never one point."""

from dataclasses import replace

from experiments.results.scaling_study import scaling_series
from tests.experiments.samples import clusters_of_rows, rings_of_rows


def clusters(*networks: tuple[str, int]) -> list[str]:
    row = replace(clusters_of_rows()[0], cluster="c")
    return [
        one.cluster
        for one in scaling_series([replace(row, topology=t, gpus=n) for t, n in networks])
    ]


def test_one_network_that_grows_stays_as_it_is() -> None:
    for rows in (clusters_of_rows(), rings_of_rows()):
        assert scaling_series(rows) == rows


def test_networks_of_one_size_are_named_without_what_grows() -> None:
    """Kautz graphs of degree 2 and 4: `nodes` is what grows."""
    kautz = "generalized_kautz"
    found = clusters(*((f"{kautz}:degree={d},nodes={n}", n) for d in (2, 4) for n in (5, 6)))
    assert found == [f"{kautz}:degree=2"] * 2 + [f"{kautz}:degree=4"] * 2


def test_networks_that_nothing_orders_are_each_by_itself() -> None:
    """Two tori of 16 GPUs; files, which have no parameters."""
    tori = ["torus:dims=4x4", "torus:dims=2x8"]
    assert clusters(*((name, 16) for name in tori)) == tori
    assert clusters(("a.yaml", 16), ("b.yaml", 16)) == ["a.yaml", "b.yaml"]
