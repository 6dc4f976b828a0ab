"""Rates of NCCL's own rings and trees, by hand."""

import re
from fractions import Fraction
from pathlib import Path

import pytest

from experiments.advice.measured import channel_rates as module
from experiments.advice.measured.channel_rates import ChannelRate, channel_rates
from forestcoll.errors import InvalidParameterError, UnsupportedError
from forestcoll.topology import load_topology
from tests.command_line import assert_refused, document, invoke


def log(rings: list[str], trees: dict[int, list[str]]) -> str:
    """Return a log of NCCL with rings by ranks, and each rank's place in each tree."""
    head = "node0:1:2 [{}] NCCL INFO "
    lines = [
        head.format(0) + f"Channel {i:02}/{len(rings):02} : {ring}" for i, ring in enumerate(rings)
    ]
    for rank, places in trees.items():
        said = " ".join(f"[{i}] {place}" for i, place in enumerate(places))
        lines.append(head.format(rank) + f"Trees {said}")
    return "\n".join(lines) + "\n"


CHAIN = {0: ["1/-1/-1->0->-1"], 1: ["2/-1/-1->1->0"], 2: ["3/-1/-1->2->1"], 3: ["-1/-1/-1->3->2"]}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "nccl.log"
    path.write_text(log(["0 1 2 3"], CHAIN), encoding="utf-8")
    return path


def test_one_ring_on_a_ring_uses_one_direction(file: Path) -> None:
    """10 GB/s a link, three quarters of the data over each: 40/3; both ways would be twice that."""
    ring = load_topology("ring:nodes=4,bandwidth=10")
    assert channel_rates(file, ring, "allgather") == [ChannelRate("rings", 1, Fraction(40, 3))]
    assert channel_rates(file, ring, "reduce-scatter") == [ChannelRate("rings", 1, Fraction(40, 3))]


def test_a_chain_sends_all_data_up_and_down(file: Path) -> None:
    """Each link has all data once in each direction: 10. The ring takes 2 x 3/4 of the data."""
    ring = load_topology("ring:nodes=4,bandwidth=10")
    assert channel_rates(file, ring, "allreduce") == [
        ChannelRate("rings", 1, Fraction(20, 3)),
        ChannelRate("trees", 1, Fraction(10)),
    ]


def test_channels_share_the_data(tmp_path: Path) -> None:
    """A ring each way: twice the rate of one."""
    path = tmp_path / "nccl.log"
    path.write_text(log(["0 1 2 3", "0 3 2 1"], {}), encoding="utf-8")
    ring = load_topology("ring:nodes=4,bandwidth=10")
    assert channel_rates(path, ring, "allgather") == [ChannelRate("rings", 2, Fraction(80, 3))]


def test_copies_of_a_ring_change_no_rate(tmp_path: Path) -> None:
    """NCCL repeats each ring; one of the three starts at another rank."""
    path = tmp_path / "nccl.log"
    path.write_text(log(["0 1 2 3", "2 3 0 1", "0 1 2 3"], {}), encoding="utf-8")
    ring = load_topology("ring:nodes=4,bandwidth=10")
    assert channel_rates(path, ring, "allgather") == [ChannelRate("rings", 3, Fraction(40, 3))]


def test_too_many_trees_are_refused_before_they_are_made(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A ring of 4 GPUs is 4 trees of 4 parents."""
    ring = load_topology("ring:nodes=4")
    monkeypatch.setattr(module, "_MOST_PARENTS", 16)
    assert channel_rates(file, ring, "allgather")
    monkeypatch.setattr(module, "_MOST_PARENTS", 15)
    with pytest.raises(UnsupportedError, match="1 different rings of 4 GPUs are too many; rate a"):
        channel_rates(file, ring, "allgather")


def test_channels_of_other_ranks_are_refused(file: Path, tmp_path: Path) -> None:
    six = load_topology("ring:nodes=6")
    with pytest.raises(InvalidParameterError, match="ring 0 has 4 GPUs, and the network 6; name"):
        channel_rates(file, six, "allgather")
    part = tmp_path / "part.log"
    part.write_text(log([], {rank: CHAIN[rank] for rank in (0, 1)}), encoding="utf-8")
    with pytest.raises(InvalidParameterError, match=r"tree 0 has .* GPUs, and the network 4"):
        channel_rates(part, load_topology("ring:nodes=4"), "allreduce")
    with pytest.raises(UnsupportedError, match="channels are rated for allgather"):
        channel_rates(file, six, "all-to-all")
    with pytest.raises(UnsupportedError, match=re.escape("has no rings, and trees only for")):
        channel_rates(part, load_topology("ring:nodes=4"), "allgather")


def test_expected_has_a_row_for_them(file: Path) -> None:
    network = "ring:nodes=4,bandwidth=10"
    options = ["expected", network, "--collective", "allgather", "--channels", file]
    rows = {row["what"]: row for row in document(*options)["rates"]}
    assert rows["rings of the file (1)"]["share_of_the_bound"]["exact"] == "1/2"
    shown = invoke(*options).stdout
    assert f"{'rings of the file (1)':30} {'13.3333':>9} {'10':>9}  50.0 %" in shown
    assert_refused("--channels is for one collective", *options[:4], "--channels", file,
                   "--demand", "sendrecv:size=1KB")  # fmt: skip


def test_the_time_limit_holds_for_channels(file: Path) -> None:
    assert_refused("no time is left", "expected", "ring:nodes=4", "--channels", file,
                   "--time-limit", "0", code=3)  # fmt: skip
