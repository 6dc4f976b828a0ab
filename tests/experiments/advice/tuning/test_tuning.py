"""The best of many schedules at each size of the data, in simulation."""

from dataclasses import replace
from typing import Any

import pytest

from experiments.advice.tuning import Tuning, tune
from forestcoll.compilation import compile_program
from forestcoll.errors import (
    ForestCollError,
    InvalidParameterError,
    UnsupportedError,
    VerificationError,
)
from forestcoll.schedule import verify
from forestcoll.schedule.program import Program
from forestcoll.schedule.simulate import AlphaBeta, Simulator, best_chunk_count
from forestcoll.topology import group, load_topology

SIZES = ("1KB", "64KB", "16MB")


def least_of_all(found: Tuning, size: int) -> float:
    """By simulating all candidates, none left out."""
    times = []
    for one in found.candidates:
        if one.schedule is not None:
            simulator = Simulator(compile_program(one.schedule))
            times.append(best_chunk_count(simulator, size, found.model, most=2**12).time_s)
    return min(times)


@pytest.mark.first_rows(1)
@pytest.mark.first_rows(2)
@pytest.mark.parametrize(
    ("spec", "collective"),
    [
        ("ring:nodes=5", "allgather"),
        ("ring:nodes=4", "allreduce"),
        ("dgx_a100:boxes=2", "reduce-scatter"),
        ("dgx_h100:boxes=1", "allreduce"),
        ("hypercube:dimension=3", "broadcast"),
        ("complete:nodes=4", "reduce"),
        ("ring:nodes=5", "all-to-all"),
    ],
)
def test_each_size_has_the_fastest_within_the_bound(spec: str, collective: str) -> None:
    found = tune(spec, collective, SIZES, plans=False)
    assert [at.size_bytes for at in found.sizes if at.asked] == [2**10, 2**16, 2**24]
    for at in found.sizes:
        assert at.time_s == pytest.approx(least_of_all(found, at.size_bytes), rel=1e-9)
        assert at.bound_s == found.bounds.least_s(at.size_bytes) <= at.time_s * (1 + 1e-9)
        assert 0 < at.share <= 1 + 1e-9
    assert found.complete
    for one in found.candidates:
        assert (one.schedule is None) == bool(one.note)
        if one.schedule is not None:
            verify(one.schedule)


def test_ranges_follow_each_other_and_win_at_their_ends() -> None:
    found = tune("dgx_a100:boxes=2", sizes=["1KB..1GB"], plans=False)
    at = {one.size_bytes: one for one in found.sizes}
    assert len(found.ranges) >= 2
    for one in found.ranges:
        for size in (one.first_bytes, one.last_bytes):
            assert at[size].best.name == one.name
            best = best_chunk_count(
                Simulator(compile_program(_schedule(found, one.name))), size, found.model
            )
            assert best.time_s == at[size].time_s
    for low, high in zip(found.ranges, found.ranges[1:], strict=False):
        assert low.last_bytes < high.first_bytes <= 1.1 * low.last_bytes
        assert low.name != high.name
    assert (found.ranges[0].first_bytes, found.ranges[-1].last_bytes) == (2**10, 2**30)


def _schedule(found: Tuning, name: str) -> Any:
    return found.candidate(name).schedule


def test_by_hand_a_ring_of_four() -> None:
    """Neighbours at 1 GB/s both ways; alpha 10 us. The farthest is two hops away: 20 us.

    Into each GPU come three quarters of the data over two links: 3/8 s a GB.
    """
    found = tune("ring:nodes=4,bandwidth=1", sizes=[4, "1GB"])
    assert found.bounds.latency_s == pytest.approx(20e-6)
    assert found.bounds.rate is not None
    assert found.bounds.rate.algbw_gb_s * 3 == 8
    assert found.sizes[0].share == pytest.approx(1, rel=1e-3)
    assert found.sizes[-1].share == pytest.approx(1, rel=1e-3)
    assert found.sizes[-1].bound_s == pytest.approx(10e-6 + 3 / 8 * 2**30 / 1e9)


@pytest.mark.slow
def test_it_is_the_same_at_every_run() -> None:
    one, other = (tune("mi250:boxes=1,gpus_per_box=8", sizes=["8MB"]) for _ in range(2))
    assert one.sizes == other.sizes
    assert one.ranges == other.ranges
    assert one.candidates == other.candidates


def test_the_report_names_the_candidate_of_a_size() -> None:
    found = tune("ring:nodes=6", sizes=["1KB..1GB"], methods=["ring", "direct"])
    low, high = found.ranges
    assert (found.best(5000).name, found.best(2**29).name) == ("direct", "ring")
    assert found.best(low.last_bytes + 1).name == "direct"
    assert found.best(high.first_bytes).name == "ring"
    with pytest.raises(InvalidParameterError, match="tried are 1024 to 1073741824 bytes, not 1"):
        found.best(1)
    with pytest.raises(InvalidParameterError, match="no candidate 'tree'"):
        found.candidate("tree")


@pytest.mark.slow
def test_fewer_ranges_lose_a_little() -> None:
    few, sizes = ["bfb", "direct", "swing"], ["64KB..1MB"]
    exact, loose = (
        tune("torus:dims=2x4", "allreduce", sizes, methods=few, within=within, plans=False)
        for within in (0, 0.1)
    )
    assert len(loose.ranges) < len(exact.ranges)
    assert 0 < max(one.slower for one in loose.ranges) <= 0.1
    for low, high in zip(loose.ranges, loose.ranges[1:], strict=False):
        assert low.last_bytes < high.first_bytes <= 1.1 * low.last_bytes
    times = {at.size_bytes: at.time_s for at in exact.sizes}
    for at in loose.sizes:
        assert times.get(at.size_bytes, at.time_s) == at.time_s


def test_roots_and_groups() -> None:
    """An allreduce with a root is of methods that take one."""
    found = tune("ring:nodes=5", "broadcast", ["1KB"], root="gpu3")
    assert found.root == 3
    rooted = tune("torus:dims=3x3", "allreduce", ["1KB"], root=1)
    takes = {one.method for one in rooted.candidates if "takes no root" not in one.note}
    assert takes == {"forestcoll", "blink", "blink-switch", "unwound"}
    part = group(load_topology("ring:nodes=6"), ["gpu0", "gpu2", "gpu3"])
    found = tune(part, sizes=["1KB"])
    assert found.topology.num_compute == 3
    assert [one.share > 0.9 for one in found.sizes] == [True]
    assert found.candidate("blueconnect").note == "unsupported: ring:nodes=6 has GPUs outside boxes"


def test_results_are_reported_after_each_size() -> None:
    known: list[Tuning] = []
    found = tune("ring:nodes=6", sizes=["1KB", "1GB"], keep=known.append)
    assert [len(one.sizes) for one in known[:2]] == [1, 2]
    assert [one.complete for one in known] == [False] * (len(known) - 1) + [True]
    assert known[-1] == found


def test_progress_is_reported_and_may_stop_it() -> None:
    stages: list[str] = []

    def stop(stage: str, done: int, total: int) -> None:
        assert 0 <= done <= total
        stages.append(stage)
        if stage == "borders":
            raise KeyboardInterrupt

    known: list[Tuning] = []
    with pytest.raises(KeyboardInterrupt):
        tune("ring:nodes=6", sizes=["1KB", "1GB"], progress=stop, keep=known.append)
    assert set(stages) == {"methods", "sizes", "borders"}
    assert len(known[-1].sizes) == 2


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"sizes": ["1XB"]}, InvalidParameterError, "sizes has '1XB'"),
        ({"sizes": []}, InvalidParameterError, "there is no size to try"),
        ({"sizes": [0]}, InvalidParameterError, "a size is a whole number from 1"),
        ({"collective": "gossip"}, UnsupportedError, "must be one of allgather"),
        ({"root": 1}, InvalidParameterError, "allgather takes no root"),
        ({"collective": "reduce", "root": 9}, InvalidParameterError, "ranks are 0 to 3"),
        ({"seconds": -1}, InvalidParameterError, "it must be from 0 to 10000000"),
        ({"within": -1}, InvalidParameterError, "ranges may lose is -1"),
        ({"methods": ["bfb"], "collective": "reduce"}, UnsupportedError, "bfb: unsupported"),
        ({"model": AlphaBeta(lockstep=True)}, InvalidParameterError, "without clocks and steps"),
    ],
)
def test_bad_questions(options: dict[str, Any], error: type[ForestCollError], message: str) -> None:
    with pytest.raises(error, match=message):
        tune("ring:nodes=4", **{"sizes": ["1KB"], **options})


def test_a_single_gpu_has_nothing_to_tune() -> None:
    box = group(load_topology("dgx_a100:boxes=1"), ["b0.gpu0", "b0.gpu1"])
    lonely = replace(
        box,
        nodes=tuple(
            replace(n, kind=box.nodes[-1].kind) if i else n for i, n in enumerate(box.nodes)
        ),
    )
    with pytest.raises(UnsupportedError, match="a single GPU"):
        tune(lonely, sizes=["1KB"])


def test_a_bound_that_is_beaten_is_a_bug(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("experiments.advice.tuning.tuning.least_latency_s", lambda *_, **__: 1.0)
    with pytest.raises(VerificationError, match="this is a bug of the toolkit"):
        tune("ring:nodes=4", sizes=["1KB"])


@pytest.mark.slow
def test_sixteen_boxes_are_tuned_in_half_a_minute() -> None:
    """At a gigabyte a time plan leads with 423 GB/s; without plans the ring does, with 390."""
    for plans, last, rate in ((True, "forest, for ", 423), (False, "ring", 390)):
        found = tune("dgx_h100:boxes=16", sizes=["1KB..1GB"], plans=plans)
        assert found.ranges[0].name == "forest, depth 1"
        assert found.ranges[-1].name.startswith(last)
        assert int(found.sizes[-1].best.simulation.algbw_gb_s) == rate


def test_those_refused_are_replaced_by_the_next_best() -> None:
    """As if they had never been tried; only those that would be used are asked about."""
    network, sizes, methods = "ring:nodes=6", ["1KB", "32KB", "1MB"], ["direct", "bfb", "ring"]
    asked: list[str] = []

    def refuses(program: Program) -> str:
        asked.append(program.method)
        return "too large" if program.method == "direct" else ""

    found = tune(network, sizes=sizes, methods=methods, refuses=refuses)
    others = tune(network, sizes=sizes, methods=methods[1:])
    assert [one.name for one in found.ranges] == [one.name for one in others.ranges] == ["bfb"]
    assert [at.time_s for at in found.sizes] == [at.time_s for at in others.sizes]
    assert asked == ["direct", "bfb"]
    assert (found.candidate("direct").schedule, found.candidate("direct").note) == (
        None,
        "too large",
    )
    with pytest.raises(UnsupportedError, match=r"no schedule that was made may be used; .*: none"):
        tune(network, sizes=sizes, methods=methods, refuses=lambda program: "none")


def test_all_usable_schedules_are_checked_for_refusals() -> None:
    """With a loss allowed, all that are within it."""
    asked: set[str] = set()

    def refuses(program: Program) -> str:
        asked.add(program.method)
        return "x" if program.method == "bfb" else ""

    found = tune(
        "ring:nodes=6", sizes=["1KB"], methods=["direct", "bfb"], within=9, refuses=refuses
    )
    assert asked == {"direct", "bfb"}
    assert [one.name for one in found.ranges] == ["direct"]


def test_exchanges_of_sums_win_between_one_latency_and_little_data() -> None:
    """1 MB on two boxes: three hops, and an eighth of the data over each NIC of 25 GB/s.

    Without pipelining 7/8 MB over 300 GB/s in the boxes come on top, twice.
    """
    methods = ["one-shot", "direct", "sum-exchange"]
    model = AlphaBeta(window="unlimited")
    found = tune("dgx_a100:boxes=2", "allreduce", ["1KB", "1MB"], methods=methods, model=model)
    assert found.best(2**10).name == "one-shot"
    best = found.candidate("sum-exchange, 1 halved")
    assert found.best(2**20) == best
    assert best.schedule is not None
    verify(best.schedule)
    least_s = 30e-6 + 2**20 / 25e9 / 8
    assert least_s < found.sizes[-1].time_s < least_s + 2 * 7 / 8 * 2**20 / 300e9
