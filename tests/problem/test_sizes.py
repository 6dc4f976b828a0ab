"""Sizes of the data are exact numbers of bytes."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from experiments.config.experiment import read_experiment
from forestcoll.errors import InvalidExperimentError
from forestcoll.problem.sizes import read_size, read_sizes, size_text


@pytest.mark.parametrize(
    ("given", "size"),
    [
        (1000, 1000),
        ("1000", 1000),
        ("1000B", 1000),
        ("1K", 1024),
        ("1KB", 1024),
        ("1 KiB", 1024),
        ("64MB", 64 * 2**20),
        ("1.5GB", 3 * 2**29),
        ("0.1TB", None),
        ("0.3KB", None),
        ("0.000000953674316406250GB", None),
        ("0.5B", None),
        (0, None),
        ("1kb", None),
        ("1iB", None),
        ("1e9", None),
        ("-1", None),
        (True, None),
        (None, None),
        (1.5, None),
        ("٣KB", None),
    ],
)
def test_a_kilobyte_is_1024_bytes_and_every_size_whole(given: object, size: int | None) -> None:
    """As in nccl-tests; a tenth of 2**40 is no whole number."""
    if size is None:
        with pytest.raises(ValueError, match=r"^has "):
            read_size(given)
    else:
        assert read_size(given) == size
        assert read_size(size_text(size)) == size


def test_ranges_double_unless_a_factor_is_given() -> None:
    """No size is greater than the last, which is in if the steps meet it."""
    assert read_sizes(["1KB..1GB"]) == [2**power for power in range(10, 31)]
    assert read_sizes(["1KB..3KB"]) == [1024, 2048]
    assert read_sizes([{"from": "1KB", "to": "1GB", "factor": 4}]) == [
        2**power for power in range(10, 31, 2)
    ]
    assert read_sizes([7, "1KB..1KB"]) == [7, 1024]


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ("1KB..1GB", "sizes is '1KB..1GB'; write a list, such as [1KB..1GB]"),
        (["1QB"], "sizes has '1QB'; a size is bytes, or such as 1KB"),
        (["0.3KB"], "sizes has '0.3KB', which is 1536/5 bytes; a size is a whole number"),
        (["1KB", 1024], "sizes has 1KB twice; keep one"),
        (["1GB..1KB"], "sizes has a range from 1GB to 1KB; turn it round"),
        ([{"from": "1KB"}], 'sizes has a range without "from" or "to"'),
        ([{"from": 1, "to": 2, "by": 3}], "sizes has a range with 'by'; known: from, to, factor"),
        ([{"from": 1, "to": 2, "factor": 1}], "by the factor 1; it must be a whole number from 2"),
        ([[1]], "sizes has [1]; a size is bytes"),
        ([*range(1, 1100)], "sizes has over 1000 sizes"),
    ],
    ids=lambda given: str(given)[:40],
)
def test_a_mistake_in_the_sizes_is_one_line(write_experiment, sizes: object, message: str) -> None:
    with pytest.raises(InvalidExperimentError) as caught:
        read_experiment(write_experiment(sizes=sizes))
    assert message in str(caught.value)
    assert "toy.yaml, line " in str(caught.value)


def test_sizes_are_no_other_points(write_experiment, tmp_path: Path) -> None:
    """A schedule is made once for all of them, so that its identity is what it was without."""
    plain = read_experiment(write_experiment()).points
    sized = read_experiment(write_experiment(sizes=["1KB..4KB", 5000])).points
    assert [point.identity for point in sized] == [point.identity for point in plain]
    assert {point.sizes for point in sized} == {(1024, 2048, 4096, 5000)}
    assert sized[0].job["sizes"] == [1024, 2048, 4096, 5000]
    assert "sizes" not in plain[0].job


def test_a_figure_by_size_needs_sizes(write_experiment) -> None:
    """And what depends on the size needs such a figure."""
    for figure, message in (
        ("lines-by-size", "there are no sizes of the data; add some"),
        ("heat-map:x=size_bytes,value=time_flowing_s", "there are no sizes of the data"),
        ("lines:y=time_flowing_s", "take lines-by-size:y=time_flowing_s"),
        ("lines-by-size:x=gpus", "unknown option 'x'"),
    ):
        with pytest.raises(InvalidExperimentError, match=message):
            read_experiment(write_experiment(figures=[figure]))
    figures = ["lines-by-size", "heat-map:x=size_bytes,value=time_in_steps_s"]
    path = write_experiment(sizes=["1KB..4KB"], figures=figures)
    assert yaml.safe_load(path.read_text())["figures"] == figures
    assert read_experiment(path).points
