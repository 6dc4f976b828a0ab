"""Measured curves from a CSV file."""

from __future__ import annotations

from pathlib import Path

import pytest

from experiments.simulation_fit.measurements import (
    Curve,
    Measurement,
    curves_of,
    is_simulated,
    named,
    read_measurements,
)
from forestcoll.errors import InvalidParameterError

HEAD = "topology,collective,method,size,algbw_gb_s,time_us,schedule_for\n"


def test_rates_and_times_are_both_read(tmp_path: Path) -> None:
    """1 MiB at 2 GB/s are 524.288 us; a time comes before a rate."""
    file = tmp_path / "measured.csv"
    file.write_text(
        HEAD
        + "ring:nodes=4,allgather,ring,1MB,2,,\n".replace("ring:nodes=4", '"ring:nodes=4"')
        + '"ring:nodes=4",allreduce,bfb:x=1,2048,2,7,"ring:nodes=4,bandwidth=5"\n'
    )
    one, other = read_measurements(file)
    assert one == Measurement(Curve("ring:nodes=4", "allgather", "ring"), 2**20, 524.288e-6)
    assert one.algbw_gb_s == pytest.approx(2)
    assert other.time_s == pytest.approx(7e-6)
    assert other.curve.schedule_for == "ring:nodes=4,bandwidth=5"
    assert [curve.name for curve in curves_of([one, other, one])] == [
        "allgather/ring",
        "allreduce/bfb",
    ]


def test_patterns_name_curves() -> None:
    curve = Curve("ring:nodes=4", "allreduce", "taccl:chunks=1")
    assert named(curve, ["allgather/*", "*/taccl"])
    assert named(curve, ["allreduce/*"])
    assert not named(curve, ["taccl", "allreduce/ring"])
    assert not named(curve, [])


def test_a_file_with_topologies_is_for_the_simulator(tmp_path: Path) -> None:
    file = tmp_path / "times.csv"
    file.write_text("size_bytes,time_us\n1,2\n")
    assert not is_simulated(file)
    file.write_text(HEAD)
    assert is_simulated(file)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("topology,collective,method,size\n", "has no column time_us or algbw_gb_s"),
        ("topology,collective,method,time_us\n", "has no column size_bytes or size"),
        ("topology,method,size,time_us\n", "has no column collective"),
        (HEAD, "has no measurements"),
        (HEAD + "t,,ring,1MB,2,,\n", "line 2: collective is empty"),
        (HEAD + "t,allgather,ring,1QB,2,,\n", "line 2: size has|line 2: size"),
        (HEAD + "t,allgather,ring,1MB,0,,\n", "line 2: algbw_gb_s is '0'; it must be a number"),
        (HEAD + "t,allgather,ring,1MB,,soon,\n", "line 2: time_us is 'soon'"),
    ],
)
def test_mistakes_name_their_line(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "measured.csv"
    file.write_text(text)
    with pytest.raises(InvalidParameterError, match=message):
        read_measurements(file)
