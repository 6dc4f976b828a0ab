"""Schedules in which switches multicast and reduce: as fast as what bounds them."""

import importlib
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from forestcoll import cost, generate, load_topology, optimum, verify
from forestcoll.allreduce.best_allreduce import Improved
from forestcoll.allreduce.collective_schedule import schedule_of
from forestcoll.in_network import collectives
from forestcoll.in_network.collectives import in_network
from forestcoll.problem.options import Options
from forestcoll.problem.request import Request
from forestcoll.schedule import Allreduce, MulticastForest, read_schedule, write_schedule
from forestcoll.topology import Topology
from forestcoll.topology.changes.edits import without
from tests.hand_networks import network_of
from tests.in_network.adding_servers import servers


@pytest.mark.parametrize(
    ("spec", "best"),
    [
        # Each GPU sends its data once to the NVSwitch and gets the sum once: 450 GB/s.
        ("dgx_h100:boxes=1", Fraction(450)),
        # All data leaves and enters each box once: 8 x 50 GB/s.
        ("dgx_h100:boxes=2,sharp=true", Fraction(400)),
        ("dgx_h100:boxes=4,sharp=true", Fraction(400)),
        # InfiniBand forwards: each piece enters and leaves B - 1 boxes: 400 B / (2 (B - 1)).
        ("dgx_h100:boxes=2", Fraction(400)),
        ("dgx_h100:boxes=4", Fraction(800, 3)),
        ("dgx_h100:boxes=16", Fraction(640, 3)),
    ],
)
def test_multicast_switches_reach_the_optimum(spec: str, best: Fraction, tmp_path: Path) -> None:
    """Bound and schedule meet; without, 257.1 GB/s in one box and 266.7 in two."""
    topology = load_topology(spec)
    schedule = generate(topology, collective="allreduce", multicast=True).schedule
    verdict = verify(schedule)
    assert verdict.algbw_gb_s == verdict.bound_gb_s == best
    assert verdict.optimal
    assert "multicast and reduce" in str(verdict.model)
    assert cost(schedule).algbw_gb_s == schedule.algbw_gb_s == best
    write_schedule(schedule, tmp_path / "schedule.json")
    assert verify(read_schedule(tmp_path / "schedule.json")) == verdict
    forwarding = verify(generate(topology, collective="allreduce").schedule)
    assert forwarding.algbw_gb_s == optimum(topology).algbw_gb_s / 2 <= best
    assert "switches only forward" in str(forwarding.model)


def uneven_nics() -> Topology:
    """Three GPUs at an NVSwitch of 6 GB/s, and at InfiniBand of 2, 2 and 1 GB/s; both copy."""
    return network_of("[ib*] [nv*] g0..2", "g0 g1 - ib: 2, g0..2 - nv: 6, g2 - ib", "uneven NICs")


def test_sums_at_one_gpu_are_tried_with_multicast_switches() -> None:
    """A GPU has 7 GB/s each way, a cut; trees that must reach both switches make 6."""
    verdict = verify(generate(uneven_nics(), collective="allreduce", multicast=True).schedule)
    assert (verdict.algbw_gb_s, verdict.bound_gb_s, verdict.optimal) == (7, 7, True)


def test_data_that_goes_one_way_keeps_its_time_and_loses_traffic() -> None:
    """One H100 box: 8 shards into the NVSwitch once instead of 7 times; the stages are reported."""
    topology = load_topology("dgx_h100:boxes=1")
    reported: list[str] = []
    made = in_network(
        Request.of(topology, Options(threads=1, multicast=True)),
        lambda stage, *_: reported.append(stage),
    )
    assert isinstance(made.schedule, MulticastForest)
    assert made.schedule.time_s_per_gb == generate(topology).schedule.time_s_per_gb
    assert list(made.saved) == ["traffic"]
    assert [(each.before, each.after) for each in made.saved["traffic"]] == [(7, 1), (7, 7)]
    assert list(made.seconds)[-1] == "multicast"
    assert set(reported) <= set(made.seconds)


def test_without_switches_that_copy_an_allreduce_is_that_of_forwarding_ones() -> None:
    """No program is asked for them; traffic of both phases is reported, and none is saved."""
    topology = load_topology("dgx_a100:boxes=2")
    made = in_network(
        Request.of(topology, Options(collective="allreduce", threads=1, multicast=True))
    )
    assert (
        made.schedule.time_s_per_gb
        == generate(topology, collective="allreduce").schedule.time_s_per_gb
    )
    assert list(made.saved) == ["traffic_of_reduce", "traffic_of_gather"]
    assert all(each.before == each.after for some in made.saved.values() for each in some)


def test_the_combination_is_not_made_where_the_program_is_proved_faster(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Two boxes: InfiniBand passes by the NVSwitches. A single box is optimal by a cut."""
    asked: list[str] = []

    def noted(request: Request, *rest: Any) -> Any:
        asked.append(request.topology.name)
        return schedule_of(request, *rest)

    monkeypatch.setattr(collectives, "schedule_of", noted)
    for spec, seconds, algbw_gb_s, made_first in (
        ("dgx_h100:boxes=2", 60.0, Fraction(400), False),
        ("dgx_h100:boxes=2", 0.0, Fraction(800, 3), True),  # no program
        ("dgx_h100:boxes=1", 60.0, Fraction(450), True),
        ("hgx_h200:boxes=2,gpus_per_box=4", 60.0, Fraction(200), True),  # in sequence, too
    ):
        asked.clear()
        options = Options(
            collective="allreduce", threads=1, multicast=True, lp_time_limit_s=seconds
        )
        made = in_network(Request.of(load_topology(spec), options))
        assert verify(made.schedule).algbw_gb_s == algbw_gb_s
        assert bool(asked) == made_first
        assert bool(made.saved) == made_first
        assert made_first or list(made.seconds) == ["allreduce program"]


def test_the_program_runs_once_if_it_does_not_attain_its_bound(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As if it found no schedule: the combination takes its place, with the bound known."""
    runs: list[Request] = []

    def nothing(request: Request, seconds: float) -> Improved:
        runs.append(request)
        return Improved(None, None, "no schedule")

    monkeypatch.setattr(collectives, "_improved", nothing)
    options = Options(collective="allreduce", threads=1, multicast=True)
    made = in_network(Request.of(load_topology("dgx_h100:boxes=2"), options)).schedule
    assert len(runs) == 1
    assert verify(made).algbw_gb_s < 400


def test_switches_beside_each_other_copy_equal_shares() -> None:
    """4 GPUs on 3 planes: a tree of each on a plane leaves two on one; 3 trees of each do not."""
    made = generate(
        load_topology("nvl72:gpus_per_rack=4,planes=3"),
        collective="allreduce",
        lp_time_limit_s=1e-9,
        multicast=True,
    ).schedule
    assert isinstance(made, Allreduce)
    assert verify(made).algbw_gb_s == 150
    assert made.optimal


@pytest.mark.parametrize(
    "network",
    [
        servers(4, ("12.5",) * 4),  # case of optcast: all NICs alike
        servers(4, (10, 20, 15, 5)),  # other NICs, 50 GB/s in all: server i sums up its part of 50
        servers(4, (25, 25)),
        servers(4, (50,)),
        servers(4, ("12.5",) * 4, leaves=2),
        servers(8, ("12.5",) * 8),
        servers(16, ("12.5",) * 16, leaves=4),
    ],
    ids=lambda network: network.name,
)
def test_servers_that_add_behind_plain_switches_are_shared_out(network: Topology) -> None:
    """Every host sends each part of its data to one server and gets the sum: 12.5 GB/s each way.

    A server of s GB/s sums up s / 50 of the data of 4 hosts: 4 parts come in, and the sum goes
    out 4 times. Trees that reach every server make 10 GB/s of 4 of them.
    """
    verdict = verify(generate(network, collective="allreduce", multicast=True).schedule)
    assert verdict.algbw_gb_s == verdict.bound_gb_s == Fraction("12.5")
    assert verdict.optimal


def test_a_narrow_server_sums_a_part_and_the_hosts_the_rest() -> None:
    """12.5 GB/s at the server are 3.125 of sums for 4 hosts; 9.375 each way are left at the hosts.

    A ring of theirs sends each piece 3/4 times in either phase: 9.375 / 1.5 = 6.25, in all 9.375.
    The bound of the program, 10.4167, leaves open whether more is possible.
    """
    verdict = verify(
        generate(servers(4, ("12.5",)), collective="allreduce", multicast=True).schedule
    )
    assert verdict.algbw_gb_s == Fraction("9.375")
    assert verdict.bound_gb_s == Fraction(125, 12)
    assert not verdict.optimal


@pytest.mark.parametrize("collective", ["allgather", "reduce-scatter", "broadcast", "reduce"])
@pytest.mark.parametrize("speeds", [("12.5",) * 4, (3, 7, 11)], ids=str)
def test_one_way_data_attains_its_cut(speeds: tuple[str | int, ...], collective: str) -> None:
    network = servers(4, speeds, leaves=2)
    root = 0 if collective in ("broadcast", "reduce") else None
    made = generate(network, collective=collective, root=root, multicast=True)
    assert verify(made.schedule).optimal


@pytest.mark.first_rows(2)
@pytest.mark.parametrize(
    ("racks", "best"),
    [
        # NVSwitches sum up 900 GB/s, 12.5 by way of each GPU, whose InfiniBand link then carries
        # 2 (R - 1) / R of these; pieces of 2 (N - 1) / N take the rest of its 50 GB/s.
        (1, Fraction(900)),
        (2, 900 + (50 - Fraction(25, 2)) * Fraction(144, 2 * 143)),
        (3, 900 + (50 - Fraction(50, 3)) * Fraction(216, 2 * 215)),
    ],
)
def test_planes_of_nvswitches_are_used_in_full(racks: int, best: Fraction) -> None:
    """18 equal planes are merged, and the trees laid over them as fast."""
    verdict = verify(generate(nvl72(racks), collective="allreduce", multicast=True).schedule)
    assert verdict.algbw_gb_s == verdict.bound_gb_s == best
    assert verdict.optimal


def test_racks_without_a_tray_reach_the_bound_with_few_trees() -> None:
    """Two kinds suffice: trees through both switches carry 900 GB/s, trees through none the rest.

    Other mixtures have the same rate, but shares that no grid holds, and 20 times the trees.
    """
    damaged = without(nvl72(2), ["b0.gpu1[2-5]"])
    schedule = generate(damaged, collective="allreduce", multicast=True).schedule
    verdict = verify(schedule)
    assert verdict.algbw_gb_s == verdict.bound_gb_s == 900 + Fraction(2600, 139)
    assert schedule.gather.num_batches < 4 * damaged.num_compute


def nvl72(racks: int) -> Topology:
    return load_topology(f"nvl72:racks={racks}")


def test_savings_are_reported_for_the_real_links() -> None:
    """4 GPUs on 3 planes of 50 GB/s: 3 sums of each pass a switch once; 3 links, not one of 150."""
    made = generate(
        load_topology("nvl72:gpus_per_rack=4,planes=3"),
        collective="allreduce",
        lp_time_limit_s=1e-9,
        multicast=True,
    )
    assert isinstance(made.schedule, Allreduce)
    up, down = made.saved["traffic_of_gather"]
    assert {one.links.count for one in (up, down)} == {12}
    assert sorted((one.before, one.after) for one in (up, down)) == [(3, 1), (3, 3)]


def test_nothing_is_begun_after_the_time_for_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of symmetric GPUs one root is tried, and none once the time is up."""
    tried: list[str] = []
    module = importlib.import_module("forestcoll.in_network.collectives")
    real = module.schedule_of

    def noted(request: Request, *rest: object, **more: object) -> object:
        tried.append("anywhere" if request.free_root else f"at {request.root}")
        return real(request, *rest, **more)

    monkeypatch.setattr(module, "schedule_of", noted)
    generate(servers(4, ("12.5",)), collective="allreduce", multicast=True)
    assert tried == ["anywhere", "anywhere", "at 0"]
    tried.clear()
    generate(servers(4, ("12.5",)), collective="allreduce", lp_time_limit_s=0.0, multicast=True)
    assert tried == ["anywhere"]
