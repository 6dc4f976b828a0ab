"""The optimum of a row is a bound that holds for every method; no row is above it."""

from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import experiments.measures.bounds
import forestcoll.all_to_all.linear_optimum
import forestcoll.allreduce.allreduce_program
from experiments.config.methods import run_method
from experiments.config.points import Status
from experiments.measures.bounds import UpperBound, upper_bound
from experiments.measures.run_result import RunResult, measured
from experiments.results.rows import Row, read_rows
from experiments.run.worker import work
from forestcoll.all_to_all.linear_optimum import all_to_all_rate
from forestcoll.allreduce.best_allreduce import Improved
from forestcoll.problem.allreduce_bound import AllreduceBound
from forestcoll.problem.price_bound import PriceBound
from forestcoll.schedule import cost
from forestcoll.solver.linear_program import Settings
from forestcoll.topology import Topology, load_topology, write_topology
from tests.hand_networks import network_of
from tests.lp.networks import BETTER
from tests.random_topologies import random_topology

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize(("topology", "best", "_"), BETTER, ids=str)
def test_allreduce_optima_are_those_of_the_lp(topology: Any, best: Fraction, _: Fraction) -> None:
    """Where reduce-scatter then allgather is slower: before, rows had up to 160 % of "the optimum".

    A method that attains the best has a ratio of 1, whatever proves it.
    """
    found = upper_bound(topology, "allreduce", Fraction(1, 100))
    assert found.algbw_gb_s == best
    assert upper_bound(topology, "allreduce", best).algbw_gb_s == best


@pytest.mark.parametrize(
    ("spec", "collective", "rate", "by"),
    [
        ("dgx_a100:boxes=4", "allgather", "800/3", "the bottleneck cut"),
        ("dgx_a100:boxes=4", "allreduce", "400/3", "a partition or cut"),
        ("docs/examples/heterogeneous.yaml", "allreduce", "32", "a partition or cut"),
        ("mi250:boxes=1,gpus_per_box=8", "allreduce", "150", "the allreduce program"),
        # NVSwitches that multicast and reduce, whether a method uses them or not.
        ("dgx_h100:boxes=1", "allreduce", "450", "a partition or cut"),
        ("dgx_h100:boxes=4", "allreduce", "800/3", "the allreduce program"),
        ("dgx_h100:boxes=4,nvls=false", "allreduce", "8000/31", "a partition or cut"),
    ],
)
def test_the_row_names_the_proof(spec: str, collective: str, rate: str, by: str) -> None:
    topology = load_topology(spec)
    for reached in (Fraction(1, 100), Fraction(rate)):
        found = upper_bound(topology, collective, reached)
        assert found.algbw_gb_s == Fraction(rate)
        assert by in (found.by, "the allreduce program")


def test_a_program_that_does_not_finish_leaves_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    topology = BETTER[3][0]
    monkeypatch.setattr(experiments.measures.bounds, "LP_TIME_LIMIT_S", 1e-9)
    found = upper_bound(topology, "allreduce", Fraction(1, 100))
    assert found == UpperBound(Fraction(2), "a partition or cut")
    low = upper_bound(topology, "allreduce", Fraction(2))
    half = Improved(None, None, "did not finish")
    monkeypatch.setattr(forestcoll.allreduce.allreduce_program, "proved", lambda *_, **__: half)
    assert upper_bound(topology, "allreduce", Fraction(1, 100)) == low


@pytest.mark.parametrize(
    ("method", "spec"),
    [
        ("forestcoll", "mi250:boxes=1,gpus_per_box=8"),
        ("nccl-nvls", "dgx_h100:boxes=2"),
        ("multitree", "docs/examples/heterogeneous.yaml"),
        ("ring", "dgx_a100:boxes=2"),
    ],
)
def test_rows_of_allreduces_are_at_most_at_the_optimum(method: str, spec: str) -> None:
    fields = _row(method, spec)
    assert fields["status"] == "ok", fields["reason"]
    assert Fraction(fields["algbw"]) <= Fraction(fields["optimum"])
    assert 0 < fields["ratio"] <= 1
    assert fields["optimum_by"]


def _row(method: str, source: str, **parameters: Any) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    job: Any = {
        "source": source,
        "collective": "allreduce",
        "method": method,
        "parameters": parameters,
        "seconds": 60.0,
    }
    work(job, lambda event: fields.update(event.get("fields", {})))
    return fields


def test_switches_that_copy_take_part_in_experiments() -> None:
    """The method forestcoll with ``multicast``: 450 of 450 GB/s, 257.1 without."""
    spec = "dgx_h100:boxes=1"
    fields = _row("forestcoll", spec, multicast=True)
    assert (fields["algbw"], fields["ratio"]) == ("450", 1.0)
    assert _row("forestcoll", spec)["algbw"] == "1800/7"
    made, seconds = run_method(
        "forestcoll", load_topology(spec), "allgather", {"multicast": True}, 9.0, lambda _: None
    )
    assert cost(made).algbw_gb_s == Fraction(3600, 7)
    assert "multicast" in seconds


def test_a_row_above_its_bound_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bound or schedule is wrong; the row says so and has no rate."""
    low = UpperBound(Fraction(1, 100), "a mistake")
    monkeypatch.setattr("experiments.measures.run_result.upper_bound", lambda *_: low)
    fields = _row("ring", "ring:nodes=3")
    assert (fields["status"], fields["verified"]) == ("failed", False)
    assert "a mistake proves that none makes more than 1/100" in fields["reason"]
    assert "algbw" not in fields


def test_no_row_has_a_ratio_above_one(tmp_path: Path) -> None:
    """Neither can be made nor read; none that is kept has one."""
    kept = [row for path in ROOT.glob("results/*/rows.jsonl") for row in read_rows(path)]
    assert kept
    assert all(row.ratio is None or row.ratio <= 1 for row in kept)
    row = next(row for row in kept if row.status is Status.OK)
    with pytest.raises(ValueError, match="no schedule is faster than a bound"):
        replace(row, ratio=1.14)
    with pytest.raises(ValueError, match="no schedule is faster than a bound"):
        Row.from_json(row.to_json().replace(f'"ratio": {row.ratio}', '"ratio": 1.6'))


def test_networks_in_files_have_bounds_too(tmp_path: Path) -> None:
    path = tmp_path / "detour.yaml"
    write_topology(BETTER[3][0], path)
    fields = _row("forestcoll", str(path))
    assert (fields["algbw"], fields["optimum"], fields["ratio"]) == ("2", "2", 1.0)
    assert fields["made_by"] == "allreduce program"
    fields = _row("forestcoll", str(path), lp_time_limit_s=1e-9)
    assert fields["made_by"].endswith("the allreduce program did not finish in 1e-09 s")
    assert "made_by" not in _row("ring", "ring:nodes=3")


@pytest.mark.parametrize(
    ("spec", "pair"),
    [
        ("complete_bipartite:degree=4", Fraction(2, 5)),  # table 7 of the NSDI paper's bound
        ("torus:dims=3x3", Fraction(1, 3)),  # the product of two rings of 3, at rate 1
        ("ring:nodes=4", Fraction(1, 2)),  # 8 links of 1; 4 GPUs with distances 1, 1 and 2
        ("ring:nodes=4,bidirectional=false", Fraction(1, 6)),  # 4 links; distances 1, 2 and 3
    ],
)
def test_simple_prices_make_an_exact_all_to_all_optimum(spec: str, pair: Fraction) -> None:
    """In units of a link's bandwidth; the data is N times what goes from one GPU to another."""
    topology = load_topology(spec)
    unit = min(link.bandwidth_gb_s for link in topology.links)
    found = upper_bound(topology, "all-to-all", Fraction(1, 100))
    assert found == UpperBound(pair * topology.num_compute * unit, "prices of the links")


@pytest.mark.parametrize("seed", range(6))
def test_the_bound_of_an_all_to_all_holds_for_any_prices(seed: int) -> None:
    """Also for such as nobody searched for: none is below what the program's flow attains."""
    topology = random_topology(seed, "directed")
    found = all_to_all_rate(topology, settings=Settings(seconds=60))
    best = upper_bound(topology, "all-to-all", Fraction(1, 100))
    assert best is not None
    attained = found.rate_gb_s * topology.num_compute
    assert attained <= float(best.algbw_gb_s) * (1 + 1e-9)
    assert float(best.algbw_gb_s) <= attained * (1 + 1e-6)
    prices = np.random.default_rng(seed).integers(1, 9, len(topology.links)).tolist()
    rate = 1 / PriceBound.of(topology, None, prices).inverse_rate
    assert found.rate_gb_s <= float(rate) * (1 + 1e-9)


def test_an_unfinished_all_to_all_has_no_optimum(monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty cell, not a guess; the row has its rate all the same."""
    monkeypatch.setattr(experiments.measures.bounds, "LP_TIME_LIMIT_S", 1e-9)
    topology = load_topology("ring:nodes=4")
    assert upper_bound(topology, "all-to-all", Fraction(1, 100)) is None
    schedule = run_method("direct", topology, "all-to-all", {}, 9.0, lambda _: None)[0]
    found = measured(RunResult(schedule, topology, "all-to-all"))
    assert found["algbw"]
    assert not found.keys() & {"optimum", "optimum_gb_s", "optimum_by", "ratio"}


def test_prices_that_round_to_nothing_leave_the_finer_ones() -> None:
    """Half of the dearest price rounds to 0 with a single part; of 3 GPUs that was all prices."""
    links = "gpu0 > gpu1: 2, gpu1 > gpu2: 2, gpu2 > gpu0: 2, gpu0 > gpu2, gpu1 > gpu0, gpu2 > gpu1"
    topology = network_of("gpu0..2", links, "three GPUs")
    best = upper_bound(topology, "all-to-all", Fraction(1, 100))
    found = all_to_all_rate(topology, settings=Settings(seconds=60))
    assert best is not None
    assert float(best.algbw_gb_s) / 3 == pytest.approx(found.rate_gb_s, rel=1e-3)
    assert float(best.algbw_gb_s) / 3 >= found.rate_gb_s * (1 - 1e-9)


def uneven_line() -> Topology:
    """GPUs a, b, c in a row: a -> b 8 GB/s and 2 back, b -> c 4 and 6 back."""
    return network_of("a b c", "a > b: 8, b > a: 2, b > c: 4, c > b: 6", "uneven line")


@pytest.mark.parametrize(
    ("root", "broadcast", "reduce"),
    [
        (0, 4, 2),  # out: 8, then 4; in: 6, then 2
        (1, 2, 6),  # out: 2 and 4, the slower; in: 8 and 6
        (2, 2, 4),  # out: 6, then 2; in: 8, then 4
    ],
)
def test_a_rooted_bound_follows_the_data(root: int, broadcast: int, reduce: int) -> None:
    """From the root everything goes to each GPU, to it everything from each: the slowest link."""
    for collective, rate in (("broadcast", broadcast), ("reduce", reduce)):
        found = upper_bound(uneven_line(), collective, Fraction(1, 100), root)
        assert found == UpperBound(Fraction(rate), "the bottleneck cut")


@pytest.mark.parametrize(
    ("weights", "allgather", "reduce_scatter"),
    [
        (None, Fraction(3), Fraction(6)),  # 2/3 enter a over 2; 1/3 enters a over 2
        ([0, 1, 3], Fraction(2), Fraction(16, 3)),  # all enters a over 2; 3/4 enter c over 4
    ],
)
def test_shards_in_and_sums_out_have_bounds_of_their_own_direction(
    weights: list[int] | None, allgather: Fraction, reduce_scatter: Fraction
) -> None:
    """Of the uneven line: other GPUs' shards enter a, but only the sum of its own does.

    A reduce-scatter with equal shards: 1/3 enters a over 2 GB/s, so 6 GB/s. 1/3 enters c over 4, so
    12; and 2/3 of what c adds leave it over 6, so 9.
    """
    for collective, rate in (("allgather", allgather), ("reduce-scatter", reduce_scatter)):
        found = upper_bound(uneven_line(), collective, Fraction(1, 100), None, weights)
        assert found == UpperBound(rate, "the bottleneck cut")


def test_unequal_phases_meet_a_cut_without_a_program(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the uneven line: 1/6 s per GB for sums, 1/3 for copies, 1/2 in turn: 2 GB/s.

    All enters a over 2 GB/s, so nothing is faster, and no program has to say so. Twice the faster
    phase would be 3 GB/s, twice the slower one 3/2: the cut meets neither.
    """

    def unwanted(*_: object, **__: object) -> None:
        raise AssertionError("the cut is met, so no program is needed")

    monkeypatch.setattr(forestcoll.allreduce.allreduce_program, "proved", unwanted)
    found = upper_bound(uneven_line(), "allreduce", Fraction(1, 100))
    assert found == UpperBound(Fraction(2), "a partition or cut")


@pytest.mark.parametrize(
    ("rate", "remark", "expected"),
    [
        (Fraction(1), "", UpperBound(Fraction(1), "the allreduce program")),
        (Fraction(1), "late", UpperBound(Fraction(1), "the allreduce program, unfinished")),
        (Fraction(2), "", UpperBound(Fraction(2), "a partition or cut")),
        (Fraction(3), "", UpperBound(Fraction(2), "a partition or cut")),
    ],
)
def test_the_lower_of_program_and_cut_bounds_counts(
    rate: Fraction, remark: str, expected: UpperBound, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Cuts prove 2 GB/s of this network, and the combination does not attain it."""
    topology = BETTER[3][0]
    bound = replace(AllreduceBound.of_cut(topology, [0], into=True), algbw_gb_s=rate)
    monkeypatch.setattr(
        forestcoll.allreduce.allreduce_program,
        "proved",
        lambda *_, **__: Improved(None, bound, remark),
    )
    assert upper_bound(topology, "allreduce", Fraction(1, 100)) == expected
