"""What a demand takes at best and with baselines, beside times by hand."""

from fractions import Fraction

import pytest

from experiments.advice.demand_rates import BASELINES, demand_rates
from forestcoll.errors import DisconnectedError
from forestcoll.problem.demand import Demand
from forestcoll.topology import load_topology
from tests.command_line import assert_refused, document, invoke
from tests.hand_networks import network_of


def test_one_message_between_boxes_by_hand() -> None:
    """400 MB from the first GPU of an A100 box to the second box: one NIC of 25 GB/s, or all eight.

    By the own NIC 16 ms; over the NVSwitch to the other seven as well 2 ms.
    """
    topology = load_topology("dgx_a100:boxes=2")
    demand = Demand.of_chunks(16, [(0, 400_000_000, [8])], "a message")
    found = demand_rates(topology, demand, seconds=60)
    times = {row.what: row.time_us for row in found.times}
    assert times["bound, switches forward"] == times["best paths"] == 2000
    assert times["NCCL send/recv"] == 16_000
    shares = {row.what: row.share for row in found.times}
    assert (shares["best paths"], shares["NCCL send/recv"]) == (1, Fraction(1, 8))
    assert [row.what for row in found.times[2:]] == list(BASELINES)


def test_nothing_beats_the_bound() -> None:
    """Skewed amounts on networks of each kind."""
    for spec in ("dgx_h100:boxes=2", "mi250:boxes=1", "torus:dims=3x3"):
        topology = load_topology(spec)
        amounts = [[(7 * a + 3 * b) % 11 * 1000 for b in range(topology.num_compute)]
                   for a in range(topology.num_compute)]  # fmt: skip
        found = demand_rates(topology, Demand.of_matrix(amounts), seconds=60)
        least = found.times[0].time_us
        assert least is not None
        for row in found.times:
            assert row.time_us is None or row.time_us >= least
            assert (row.time_us is None) <= bool(row.note)


def test_unreachable_gpus_have_no_times() -> None:
    one_way = network_of("a b", "a > b", "one way")
    with pytest.raises(DisconnectedError):
        demand_rates(one_way, Demand.of_matrix([[0, 1], [1, 0]]), seconds=60)


def test_the_command_prints_a_row_for_each() -> None:
    asked = ("expected", "ring:nodes=4", "--demand", "sendrecv:size=1MB")
    lines = invoke(*asked).stdout.splitlines()
    assert lines[3].split()[:2] == ["bound,", "switches"]
    report = document(*asked)
    assert [row["what"] for row in report["times"]][:2] == ["bound, switches forward", "best paths"]
    assert report["bytes"] == 4 * 2**20
    assert_refused("leave --collective, --root and --sizes away", *asked, "--sizes", "1MB")
