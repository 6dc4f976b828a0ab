"""TE-CCL against what its paper and public code report, and against a schedule's own checks."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from baselines.synthesizers.teccl import task
from baselines.synthesizers.teccl.instance.epochs import CROSSINGS
from baselines.synthesizers.teccl.teccl import METHODS, generate
from forestcoll.errors import (
    DisconnectedError,
    InfeasibleError,
    InvalidParameterError,
    TimeLimitError,
    UnsupportedError,
)
from forestcoll.problem.limits import Limits
from forestcoll.schedule import verify
from forestcoll.topology import load_topology
from forestcoll.topology.groups import group
from tests.baselines.once_each import every
from tests.hand_networks import network_of
from tests.random_topologies import KINDS, random_topology, seeds

US = Fraction(1)


def finish(spec: str, **asked: Any) -> Fraction:
    """Make an allgather, prove it, and return when its clock says it is done."""
    schedule = generate(load_topology(spec), **asked)
    verify(schedule)
    assert schedule.clock is not None
    return schedule.clock.finish_us


A_LONG_ONE = pytest.param(3, 8, "highs", marks=pytest.mark.slow)


@pytest.mark.parametrize(
    ("chunks", "epochs", "solver"),
    [(1, 3, "cp-sat"), (1, 3, "highs"), (2, 5, "cp-sat"), (2, 5, "highs"), A_LONG_ONE],
)
def test_allgathers_of_dgx1_take_the_epochs_of_the_public_code(
    chunks: int, epochs: int, solver: str
) -> None:
    """Without latencies, in epochs of the fastest link; both solvers prove them the fewest."""
    spec = "dgx1:nvlink_latency=0"
    size = 8 * chunks * 25_000
    assert finish(spec, chunks=chunks, size_bytes=size, solver=solver) == epochs * US / 2


@pytest.mark.parametrize(
    ("epoch", "chunks", "microseconds"),
    [
        *(("slowest", 1, 4), ("slowest", 2, 5), ("slowest", 3, 6)),
        *(("fastest", 1, Fraction(7, 2)), ("fastest", 2, Fraction(9, 2))),
        pytest.param("fastest", 3, 5, marks=pytest.mark.slow),
    ],
)
def test_allgathers_of_table_3(epoch: str, chunks: int, microseconds: Fraction | int) -> None:
    """25 KB chunks, alpha 0.7 us; the paper prints 6.1 for the third, its public code 6."""
    asked = {"crossing": "stored", "epoch": epoch, "chunks": chunks}
    assert finish("dgx1", size_bytes=8 * chunks * 25_000, **asked) == microseconds


@pytest.mark.slow
def test_two_chassis_of_dgx2_take_four_epochs() -> None:
    """1 GB in epochs of 2.5 ms: the model's 10 ms, and on the clock the latencies that it drops."""
    done = finish("dgx2:chassis=2,multicast=true", epoch="slowest")
    assert 10_000 <= done < 10_020


@pytest.mark.parametrize(("crossing", "epochs"), [("through", 1), ("rounded", 2), ("stored", 4)])
def test_each_switch_model_has_its_number_of_epochs(crossing: str, epochs: int) -> None:
    """A chunk from one GPU to another, over a switch with latencies of a tenth of an epoch."""
    schedule = generate(
        network_of("a b [s]", "a b - s: 1 1/10", "pair"), size_bytes=2000, crossing=crossing
    )
    verify(schedule)
    assert schedule.clock is not None
    late = 0 if crossing == "stored" else Fraction(epochs, 10) * (2 if epochs == 1 else 1)
    assert schedule.clock.finish_us == epochs + late


@pytest.mark.parametrize("collective", METHODS[0].collectives)
@pytest.mark.parametrize(
    "spec", ["ring:nodes=3", "hypercube:dimension=3", "dgx_h100:boxes=1", "paper_example"]
)
@pytest.mark.each_value_once
def test_schedules_of_every_collective_verify(spec: str, collective: str) -> None:
    verify(generate(load_topology(spec), collective))


@pytest.mark.parametrize("crossing", ["through", "stored"])
@pytest.mark.parametrize("kind", ["directed", "bidirectional", "unbalanced"])
@pytest.mark.parametrize("seed", seeds(4, 1))
def test_schedules_of_random_networks_verify(seed: int, kind: str, crossing: str) -> None:
    """Switches that multicast and switches that do not, links of all speeds; or the time was up."""
    topology = random_topology(seed, kind)
    if topology.num_compute < 2:
        return
    with suppress(TimeLimitError):
        verify(generate(topology, crossing=crossing, limits=Limits(seconds=1)))


@pytest.mark.parametrize("spec", every(2, ["ring:nodes=4", "torus:dims=3x3", "complete:nodes=5"]))
def test_all_to_alls_of_whole_chunks_take_no_less_than_of_parts(spec: str) -> None:
    whole = finish(spec, collective="all-to-all", milp=True)
    assert whole >= finish(spec, collective="all-to-all")


@pytest.mark.parametrize("crossing", ["through", "rounded", "stored"])
@pytest.mark.parametrize("epoch", ["slowest", "fastest"])
@pytest.mark.each_value_once
def test_the_all_to_all_of_table_3(epoch: str, crossing: str) -> None:
    """A 25 KB chunk for each pair of DGX1, alpha 0.7 us: 4 us in epochs of either kind."""
    asked = {"crossing": crossing, "epoch": epoch, "size_bytes": 8 * 25_000}
    assert finish("dgx1", collective="all-to-all", **asked) == 4
    assert finish("dgx1", collective="all-to-all", windows=False, **asked) == 4


def test_an_all_to_all_of_several_chunks_is_one_of_longer_epochs() -> None:
    """The finish is that of the same size in fewer chunks where an epoch divides it."""
    for chunks in (1, 2, 5):
        assert finish("ring:nodes=5", collective="all-to-all", chunks=chunks, size_bytes=5000) == 3


def test_too_few_epochs_are_proved_to_be_too_few() -> None:
    with pytest.raises(InfeasibleError, match="proved that 2 epochs are too few on dgx1"):
        generate(load_topology("dgx1:nvlink_latency=0"), size_bytes=200_000, epochs=2)
    schedule = generate(load_topology("dgx1:nvlink_latency=0"), size_bytes=200_000, epochs=5)
    assert verify(schedule).steps <= 5


def test_a_fixed_number_of_epochs_may_stay_open() -> None:
    topology, limits = load_topology("ndv2:chassis=2"), Limits(seconds=1e-6)
    with pytest.raises(TimeLimitError, match="no answer for 9 epochs"):
        generate(topology, epoch="slowest", epochs=9, limits=limits)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"epoch": "longest"}, "epoch is 'longest'; it must be fastest or slowest"),
        ({"crossing": "over"}, "crossing is 'over'; it must be through or rounded or stored"),
        ({"switches": "none"}, "switches is 'none'; it must be nodes or hyper-edges"),
        ({"solver": "z3"}, "solver is 'z3'; it must be cp-sat or highs or gurobi"),
        ({"chunks": 0}, "chunks is 0; it must be 1 or more"),
        ({"size_bytes": 0}, "size_bytes is 0; it must be 1 or more"),
        ({"epochs": -1}, "epochs is -1; it must be 0 or more"),
    ],
)
def test_parameters_out_of_their_range(asked: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidParameterError, match=message):
        generate(load_topology("ring:nodes=3"), **asked)


def test_a_single_gpu_is_refused() -> None:
    with pytest.raises(UnsupportedError, match="GPU"):
        generate(network_of("alone", "", "alone"))


def test_hyper_edges_over_two_switches_take_both() -> None:
    """Two chunks at once from a to b: each transfer names its way."""
    schedule = generate(
        network_of("a b [s] [t]", "a b - s t", "twins"),
        "broadcast",
        chunks=2,
        size_bytes=2000,
        switches="hyper-edges",
    )
    assert verify(schedule).steps == 1
    assert schedule.clock is not None
    assert schedule.clock.finish_us == 1


@pytest.mark.parametrize("collective", ["allgather", "broadcast", "all-to-all"])
@pytest.mark.parametrize("epochs", [0, 3])
def test_a_missing_path_is_reported(collective: str, epochs: int) -> None:
    with pytest.raises(DisconnectedError, match="from a to b; add links"):
        generate(network_of("a b", "b > a", "one way"), collective, epochs=epochs)


def test_an_allreduce_shares_its_time_between_its_phases(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[float | None] = []
    real = task.fewest_epochs

    def fewest(network: Any, demand: Any, solver: str, limits: Limits, *more: Any) -> Any:
        given.append(limits.seconds)
        return real(network, demand, solver, limits, *more)

    monkeypatch.setattr(task, "fewest_epochs", fewest)
    generate(load_topology("ring:nodes=3"), "allreduce", limits=Limits(seconds=30))
    generate(load_topology("ring:nodes=3"), "reduce-scatter", limits=Limits(seconds=30))
    assert given == [15, 15, 30]


@pytest.mark.parametrize(
    "asked",
    [
        *({"round_epochs": 2}, {"round_epochs": 2, "gap": 0.3, "solver": "highs"}),
        *({"epochs": "estimated"}, {"epochs": "estimated", "objective": "reward"}),
        {"epochs": 3, "objective": "reward", "gap": 0.3},
    ],
)
@pytest.mark.parametrize("collective", ["allgather", "allreduce", "broadcast"])
@pytest.mark.each_value_once
def test_other_searches_make_schedules_that_verify(collective: str, asked: dict[str, Any]) -> None:
    verify(generate(load_topology("hypercube:dimension=3"), collective, **asked))


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"epochs": "few"}, "epochs is 'few'; it must be a whole number or estimated"),
        ({"objective": "time"}, "objective is 'time'; it must be epochs or reward"),
        ({"round_epochs": -1}, "round_epochs is -1; it must be 0 or more"),
        ({"round_epochs": 2, "epochs": 3}, "round_epochs is given with epochs or an objective"),
        ({"round_epochs": 2, "objective": "reward"}, "rounds find their own number"),
        ({"objective": "reward"}, "give epochs, or estimated for them"),
        ({"gap": 0.3}, "gap is 0.3; it is that of a reward"),
        ({"gap": 1.0, "round_epochs": 2}, "gap is 1.0; it must be 0 or more, and below 1"),
    ],
)
def test_searches_that_do_not_go_together(asked: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidParameterError, match=message):
        generate(load_topology("ring:nodes=3"), **asked)


@pytest.mark.parametrize(
    ("spec", "size_bytes"),
    [
        ("docs/examples/heterogeneous.yaml", 10**9),
        ("dgx2:chassis=1", 10**6),
        ("dgx2:chassis=1,multicast=true", 10**6),
        ("ndv2:chassis=2", 10**6),
    ],
)
@pytest.mark.parametrize("collective", ["reduce", "reduce-scatter"])
@pytest.mark.each_value_once
def test_reductions_through_switches_with_latencies_verify(
    spec: str, size_bytes: int, collective: str
) -> None:
    """Turned round, what a switch passes on as it comes in leaves when it has come."""
    made = generate(load_topology(spec), collective, size_bytes=size_bytes, work=0)
    assert verify(made).collective == collective


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("kind", KINDS)
def test_schedules_of_random_networks_with_latencies_verify(seed: int, kind: str) -> None:
    """Both ways, whatever a latency is beside an epoch."""
    topology = random_topology(seed, kind)
    links = (replace(e, latency_us=Fraction(i % 7, 4)) for i, e in enumerate(topology.links))
    topology = replace(topology, links=tuple(links))
    for collective in ("allgather", "reduce-scatter"):
        for crossing in CROSSINGS:
            verify(generate(topology, collective, size_bytes=10**4, crossing=crossing, work=0))


@pytest.mark.parametrize("collective", ["reduce", "reduce-scatter"])
def test_reductions_over_leaves_and_a_spine_verify(collective: str) -> None:
    """At one moment a leaf sends on what came from its GPUs, to the spine, and from there, to one.

    Links to the spine are four times as fast. Who checks must not give the GPU that gets the one
    what can go to the spine as well.
    """
    verify(generate(load_topology("fat_tree:leaves=4,hosts=4,spines=1"), collective, work=0))


def test_sums_that_a_switch_would_add_are_refused() -> None:
    """A chunk that enters a multicast switch twice is two sums backwards, and it reduces."""
    topology = network_of("a b c [s*]", "a b > s: 1 1/20, c - s, s > a b", "star")
    asked: dict[str, Any] = {"size_bytes": 6000, "chunks": 2, "crossing": "rounded"}
    verify(generate(topology, **asked))
    with pytest.raises(UnsupportedError, match="a switch would add what this schedule sends on"):
        generate(topology, "reduce-scatter", **asked)


def test_gpus_outside_of_the_group_are_refused() -> None:
    topology = group(load_topology("ring:nodes=4"), ["gpu0", "gpu1"])
    with pytest.raises(UnsupportedError, match="has GPUs outside of the group"):
        generate(topology)


def test_a_network_without_links_is_not_connected() -> None:
    with pytest.raises(DisconnectedError, match="has no links"):
        generate(network_of("a b", "", "apart"))
