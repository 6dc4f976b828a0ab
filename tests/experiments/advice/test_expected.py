"""What a collective should reach, as nccl-tests print it."""

import random
import time
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from baselines.registry import METHODS
from experiments.advice.expected import ALL, busbw_factor, expected
from forestcoll import Forest, optimum
from forestcoll.core.optimality import rate_bound
from forestcoll.errors import (
    DisconnectedError,
    InvalidParameterError,
    TimeLimitError,
    UnsupportedError,
    VerificationError,
)
from forestcoll.problem.rate_bound import RateBound
from forestcoll.topology import Topology, load_topology
from forestcoll.topology.symmetry.parallel_planes import unmerged
from tests.hand_networks import network_of
from tests.in_network.adding_servers import servers


def rates(spec: str, collective: str) -> dict[str, Fraction | None]:
    found = expected(load_topology(spec), collective)
    return {one.what: one.busbw_gb_s for one in (*found.bounds, *found.rates)}


def test_a_box_reaches_its_links_and_with_nvls_almost_twice_that() -> None:
    """450 GB/s into each of 8 GPUs: busbw 450, or 7/4 of 450 with multicast and reduction.

    With NVLS a GPU's own eighth passes the switch as well: 7/4 of 8/9 of 450.
    """
    found = rates("dgx_h100:boxes=1", "allreduce")
    assert found["bound, switches forward"] == found["NCCL ring"] == 450
    assert found["bound, multicast + reduction"] == found["ForestColl"] == Fraction(1575, 2)
    assert found["NCCL NVLS"] == 700
    assert found["NCCL NVLS tree"] is None


@pytest.mark.parametrize("collective", ["reduce-scatter", "allgather"])
def test_nvls_sends_all_data_and_a_ring_seven_eighths(collective: str) -> None:
    """8/8 of it over 450 GB/s, of which nccl-tests count 7/8."""
    found = rates("dgx_h100:boxes=1", collective)
    assert found["NCCL ring"] == 450
    assert found["NCCL NVLS"] == Fraction(7 * 450, 8)


@pytest.mark.parametrize("collective", ["broadcast", "reduce"])
@pytest.mark.parametrize("root", [None, 3, "b15.gpu7"])
def test_nccl_broadcasts_along_its_rings(collective: str, root: str | int | None) -> None:
    """Eight rings from NIC to NIC, each with 1/8 of the data over 25 GB/s: 200 GB/s."""
    found = expected(load_topology("dgx_a100:boxes=16"), collective, root=root)
    made = {one.what: one for one in found.rates}
    assert made["NCCL ring"].busbw_gb_s == made["ForestColl"].busbw_gb_s == 200
    assert made["NCCL tree"].note == f"has no {collective}"


def test_the_all_to_all_of_nccl_is_sends_and_receives() -> None:
    """On two DGX A100 half of what a GPU has goes out by its NIC: 2 x 25 GB/s."""
    found = expected(load_topology("dgx_a100:boxes=2"), "all-to-all")
    assert [one.what for one in found.rates] == ["best paths", "NCCL send/recv"]
    assert [one.algbw_gb_s for one in (*found.bounds, *found.rates)] == [50, 50, 50]
    assert [one.share for one in found.rates] == [1, 1]
    assert found.binding is not None
    (words,) = found.binding[0].in_words()
    assert words == "price 1 on 8 links: 8 x 25 GB/s from GPUs 0-7 of box 0 to switch ib"


def test_rates_name_the_differences_of_baselines() -> None:
    """Where it has one; of bounds and of ForestColl there is nothing to say."""
    found = expected(load_topology("dgx_h100:boxes=1"), "allgather")
    text = {one.what: one.differences for one in (*found.bounds, *found.rates) if one.differences}
    assert text == {"NCCL NVLS": METHODS["nccl-nvls"].notes}
    found = expected(load_topology("ring:nodes=3"), "allgather")
    text = {one.what: one.differences for one in (*found.bounds, *found.rates) if one.differences}
    assert text == {"NCCL ring": METHODS["ring"].notes}


def test_busbw_of_a_ring_is_the_rate_of_its_links() -> None:
    """Whatever the collective and the number of GPUs."""
    for gpus in (2, 3, 8):
        for collective in ("allgather", "reduce-scatter", "allreduce"):
            found = rates(f"ring:nodes={gpus},bidirectional=false", collective)
            assert found["NCCL ring"] == found["bound, switches forward"] == 1


@pytest.mark.parametrize("collective", ALL)
def test_every_collective_has_a_bound_that_nothing_beats(collective: str) -> None:
    for spec in ("dgx_a100:boxes=2", "dgx_h100:boxes=2", "torus:dims=3x3"):
        topology = load_topology(spec)
        found = expected(topology, collective)
        best = max(one.algbw_gb_s for one in found.bounds if one.algbw_gb_s is not None)
        reached = [one for one in found.rates if one.algbw_gb_s is not None]
        assert all(one.share is not None and one.share <= 1 for one in reached)
        assert all(one.share == one.algbw_gb_s / best for one in reached if one.algbw_gb_s)
        assert len(found.binding) == {"allreduce": 2}.get(collective, 1)
        for one in (*found.bounds, *found.rates):
            assert (one.algbw_gb_s is None) == (one.busbw_gb_s is None)
            assert one.algbw_gb_s is not None or one.note
        if collective in ("allgather", "broadcast"):
            weights = [int(rank == 0) for rank in range(topology.num_compute)]
            whole = None if collective == "allgather" else weights
            assert best == optimum(topology, weights=whole).algbw_gb_s


def test_damage_is_counted() -> None:
    """One of 8 NICs of a box dead: 7/8 of what entered it."""
    whole = load_topology("dgx_a100:boxes=4")
    damaged = whole.without("b1.gpu2 - ib")
    (before,), (after,) = (expected(one, "allgather").bounds for one in (whole, damaged))
    assert before.algbw_gb_s is not None
    assert after.algbw_gb_s == before.algbw_gb_s * Fraction(7, 8)


def test_small_data_is_bounded_by_latency_and_large_data_by_rate() -> None:
    """A ring of 5 with 3 us a link: the farthest GPUs are 2 links away, on either side."""
    ring = load_topology("ring:nodes=5")
    late = type(ring)(
        ring.name,
        ring.nodes,
        tuple(type(e)(e.tail, e.head, e.bandwidth_gb_s, Fraction(3)) for e in ring.links),
    )
    found = expected(late, "allgather")
    assert found.latency_us == 6
    assert found.least_us(1) == 6 + Fraction(1, 5 * 1000)
    assert found.least_times_us([1], 10) == [26 + Fraction(1, 5 * 1000)]
    rate = found.bounds[0].algbw_gb_s
    assert rate is not None
    assert found.least_us(10**9) == 3 + 10**9 / (rate * 1000)
    assert expected(ring, "allgather").latency_us == 0
    path = late.without("gpu4 - gpu0")
    assert expected(path, "broadcast", root="gpu2").latency_us == 6
    assert expected(path, "reduce", root="gpu0").latency_us == 12
    one_way = late.without(
        "gpu1 -> gpu0", "gpu2 -> gpu1", "gpu3 -> gpu2", "gpu4 -> gpu3", "gpu0 - gpu4"
    )
    assert expected(one_way, "broadcast", root="gpu0").latency_us == 12


def test_bad_questions_are_refused() -> None:
    with pytest.raises(UnsupportedError, match="must be one of allgather"):
        expected(load_topology("ring:nodes=4"), "gossip")
    with pytest.raises(InvalidParameterError, match="ranks are 0 to 3"):
        expected(load_topology("ring:nodes=4"), "reduce", root=9)


def test_factors_are_those_of_nccl_tests() -> None:
    assert busbw_factor("reduce", 5) == 1
    assert busbw_factor("all-to-all", 4) == busbw_factor("reduce-scatter", 4) == Fraction(3, 4)


def uneven_line(*, latencies: bool = True) -> Topology:
    """GPUs a, b, c in a row that differs by direction.

    a -> b 8 GB/s, 1 us; back 2 GB/s, 10 us. b -> c 4 GB/s, 2/3 us; back 6 GB/s, 20 us.
    """
    links = "a > b: 8 1, b > a: 2 10, b > c: 4 2/3, c > b: 6 20"
    without = "a > b: 8, b > a: 2, b > c: 4, c > b: 6"
    return network_of("a b c", links if latencies else without, "uneven line")


@pytest.mark.parametrize(
    ("collective", "root", "latency_us"),
    [
        ("broadcast", "a", Fraction(5, 3)),  # to c: 1 + 2/3
        ("reduce", "a", Fraction(30)),  # from c: 20 + 10
        ("broadcast", "b", Fraction(10)),  # to a 10, to c 2/3
        ("reduce", "b", Fraction(20)),  # from a 1, from c 20
        ("broadcast", "c", Fraction(30)),
        ("reduce", "c", Fraction(5, 3)),
        ("broadcast", None, Fraction(5, 3)),  # of rank 0, which is a
        ("allgather", None, Fraction(30)),  # of all pairs, c to a
        ("allreduce", None, Fraction(30)),
    ],
)
def test_latency_follows_the_data(collective: str, root: str | None, latency_us: Fraction) -> None:
    """Out from the root of a broadcast, in to that of a reduce."""
    found = expected(uneven_line(), collective, root=root)
    assert found.latency_us == latency_us
    assert found.least_us(0) == latency_us


@pytest.mark.parametrize(
    ("collective", "root", "rate", "link"),
    [
        ("broadcast", "a", 4, ("b", "c")),
        ("reduce", "a", 2, ("b", "a")),
        ("broadcast", "b", 2, ("b", "a")),
        ("reduce", "b", 6, ("c", "b")),
        ("broadcast", "c", 2, ("b", "a")),
        ("reduce", "c", 4, ("b", "c")),
        ("allgather", None, 3, ("b", "a")),
        ("reduce-scatter", None, 6, ("b", "a")),
    ],
)
def test_cut_sides(collective: str, root: str | None, rate: int, link: tuple[str, str]) -> None:
    """The slowest link on the way; ForestColl attains it, and the cut is crossed by that link.

    In an allgather 2/3 of the data enter a over 2 GB/s; in a reduce-scatter its third does.
    """
    found = expected(uneven_line(latencies=False), collective, root=root)
    (bound,), (cut,) = found.bounds, found.binding
    assert bound.algbw_gb_s == found.rates[0].algbw_gb_s == rate
    names = [node.name for node in found.topology.nodes]
    ends = [(names[one.tail], names[one.head]) for one in cut.widest.exit_links]
    assert ends == [link]


def test_a_root_is_refused_for_rootless_collectives() -> None:
    with pytest.raises(InvalidParameterError, match="allgather takes no root here"):
        expected(load_topology("ring:nodes=4"), "allgather", root=0)


def test_links_without_latency_add_none() -> None:
    """Link a - b takes 3 us and b - c nothing; c is 3 us from a, and 0 from b."""
    line = network_of("a b c", "a - b: 1 3, b - c", "line")
    assert expected(line, "allgather").latency_us == 3
    assert expected(line.without("a - b", "a"), "allgather").latency_us == 0


def test_a_network_that_leads_one_way_has_a_broadcast_and_a_reduce() -> None:
    """Along a -> b -> c all get what a has, and c what all have; no allgather is possible."""
    line = network_of("a b c", "a > b: 2 1, b > c: 3 1", "one way")
    for collective, root in (("broadcast", "a"), ("reduce", "c")):
        found = expected(line, collective, root=root)
        assert (found.bounds[0].algbw_gb_s, found.latency_us) == (2, 2)
    for collective, root in (("broadcast", "c"), ("reduce", "a"), ("allgather", None)):
        with pytest.raises(DisconnectedError):
            expected(line, collective, root=root)


def test_without_a_bound_there_are_rates_and_no_shares(monkeypatch: pytest.MonkeyPatch) -> None:
    """A program that does not finish; 3/4 GB over 2 links into a GPU take 375 ms."""

    def late(*_: object, **__: object) -> None:
        raise TimeLimitError("no flow")

    monkeypatch.setattr("forestcoll.all_to_all.best_flow.best_flow", late)
    found = expected(load_topology("ring:nodes=4"), "all-to-all", seconds=30)
    for one in (*found.bounds, found.rates[0]):
        assert (one.algbw_gb_s, one.note) == (None, "not finished in 30 s; allow more time")
    assert found.rates[1].algbw_gb_s is not None
    assert all(one.share is None for one in found.rates)
    assert found.binding is None
    assert found.least_us(10**9) == 375_000


def test_unknown_collectives_are_refused_with_the_known_ones() -> None:
    with pytest.raises(UnsupportedError, match=r"is 'gossip'; it must be one of .*, all-to-all$"):
        expected(load_topology("ring:nodes=4"), "gossip")


@pytest.mark.parametrize("racks", [1, 2])
def test_planes_of_nvswitches_reach_their_bound(racks: int) -> None:
    """900 GB/s, and 918.88 for two racks (tests/in_network/test_collectives.py works it out)."""
    found = expected(load_topology(f"nvl72:racks={racks}"))
    bound = found.bounds[1].algbw_gb_s
    assert found.rates[0].what == "ForestColl"
    assert found.rates[0].algbw_gb_s == bound == (900, Fraction(131400, 143))[racks - 1]
    assert found.rates[0].share == 1


def test_servers_that_add_reach_their_bound() -> None:
    """12.5 GB/s: each of 4 hosts sends a quarter of its data to each of 4 servers."""
    found = expected(servers(4, ("12.5",) * 4))
    assert found.rates[0].algbw_gb_s == found.bounds[1].algbw_gb_s == Fraction("12.5")


def test_rows_that_are_not_there_in_time_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """No time at all; and a baseline that never ends, beside a schedule that is there at once."""
    topology = load_topology("dgx_h100:boxes=1")
    none = expected(topology, seconds=0)
    assert all(one.algbw_gb_s is None for one in none.rates)
    assert {one.note for one in none.rates[:3]} == {"not finished in 0 s; allow more time"}
    assert {one.note for one in none.bounds} == {"not finished in 0 s; allow more time"}
    assert none.binding is None

    def endless(_topology: Topology, _collective: str) -> Forest:
        while True:
            time.sleep(0.001)

    slow = replace(METHODS["ring"], generate=endless)
    monkeypatch.setattr("experiments.advice.expected.METHODS", {**METHODS, "ring": slow})
    began = time.monotonic()
    found = {one.what: one for one in expected(topology, seconds=3).rates}
    assert time.monotonic() < began + 20
    assert found["ForestColl"].algbw_gb_s == 450
    assert found["NCCL ring"].note == "not finished in 3 s; allow more time"


def endless(*_: object, **__: object) -> None:
    while True:
        time.sleep(0.001)


def test_bounds_and_cuts_share_the_remaining_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """A search for cuts that goes on for ever ends with the time, and so do bounds.

    The second bound is not begun then, nor are cuts.
    """
    topology = load_topology("dgx_h100:boxes=1")
    monkeypatch.setattr("experiments.advice.expected.rate_bound", endless)
    began = time.monotonic()
    found = expected(topology, seconds=3)
    assert time.monotonic() < began + 4.5
    assert found.binding is None
    assert found.bounds[1].algbw_gb_s == 450
    begun: list[object] = []

    def slow(network: object, *_: object, **__: object) -> None:
        begun.append(network)
        endless()

    monkeypatch.setattr("experiments.advice.expected.upper_bound", slow)
    began = time.monotonic()
    found = expected(topology, seconds=2)
    assert time.monotonic() < began + 3.5
    assert {one.note for one in found.bounds} == {"not finished in 2 s; allow more time"}
    assert found.binding is None
    assert len(begun) == 1


def test_a_slow_schedule_leaves_bounds_and_cuts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 4 s the schedule gets 3; cuts that take all that is left end at 4 s, not at 4 + 2."""
    topology = load_topology("dgx_h100:boxes=1")
    monkeypatch.setattr("experiments.advice.expected._made", endless)
    found = expected(topology, seconds=4)
    assert found.rates[0].note == "not finished in 4 s; allow more time"
    assert found.bounds[1].algbw_gb_s == 450
    assert found.binding is not None
    monkeypatch.setattr("experiments.advice.expected.rate_bound", endless)
    began = time.monotonic()
    found = expected(topology, seconds=4)
    assert time.monotonic() < began + 5.5
    assert found.binding is None


def test_programs_for_bounds_and_cuts_get_the_remaining_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Solvers cannot be interrupted: each gets the seconds that are left of 5, fewer each time.

    One GPU's NIC is dead in one direction, so a program takes the place of the cut: for both phases
    of the bound, and of the cuts.
    """
    limits: list[float] = []

    def timed(*arguments: Any, seconds: float, **options: Any) -> RateBound:
        limits.append(seconds)
        return rate_bound(*arguments, seconds=seconds, **options)

    monkeypatch.setattr("experiments.advice.expected.rate_bound", timed)
    monkeypatch.setattr("experiments.measures.bounds.rate_bound", timed)
    network = load_topology("dgx_a100:boxes=2").without("b0.gpu0 -> ib")
    assert expected(network, seconds=5).binding is not None
    assert len(limits) == 4
    assert 5 > limits[0] > limits[1] > limits[2] > limits[3] > 0


def test_rates_of_unmerged_planes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the check of merged planes refuses them, all planes are looked at: 900 GB/s too."""

    def refuse(_: object) -> None:
        raise VerificationError("planes are not one")

    found = expected(load_topology("nvl72:gpus_per_rack=4,planes=3"))
    monkeypatch.setattr("experiments.advice.expected.check_planes", refuse)
    assert expected(load_topology("nvl72:gpus_per_rack=4,planes=3")).rates == found.rates


def racks_at_random(seed: int) -> Topology:
    """Racks of planes with a dead plane, link or NIC, and a plane of other bandwidth."""
    chance = random.Random(seed)
    racks, gpus, planes = chance.randint(1, 2), chance.randint(2, 4), chance.randint(2, 4)
    whole = load_topology(f"nvl72:racks={racks},gpus_per_rack={gpus},planes={planes}")
    parts = ["b0.nvswitch0", f"b0.gpu{gpus - 1} - b0.nvswitch1"]
    parts += ["b0.gpu0 - ib"] * (racks > 1)
    made = whole.without(chance.choice(parts))
    if chance.random() < 0.5:
        made = made.scaled(f"b{racks - 1}.nvswitch1 - b*", Fraction(chance.randint(1, 5), 4))
    return made


@pytest.mark.parametrize("seed", range(12))
def test_merged_planes_change_no_bound_and_no_optimum(seed, monkeypatch):
    """Every collective, with planes merged and with each plane by itself."""
    topology = racks_at_random(seed)
    collective = ALL[seed % len(ALL)]
    merged = expected(topology, collective)
    monkeypatch.setattr("experiments.advice.expected._without_planes", lambda network, _: network)
    monkeypatch.setattr("experiments.advice.expected.merged_planes", unmerged)
    apart = expected(topology, collective)
    assert [one.algbw_gb_s for one in merged.bounds] == [one.algbw_gb_s for one in apart.bounds]
    assert merged.rates[0].algbw_gb_s == apart.rates[0].algbw_gb_s
