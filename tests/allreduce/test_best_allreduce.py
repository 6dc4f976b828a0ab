"""The best allreduce: one model of time, bounds that hold, and who asks gets the best there is."""

from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import forestcoll.allreduce.allreduce_program
from forestcoll import best_k, cost, generate, load_topology, optimum, verify
from forestcoll.allreduce.best_allreduce import Improved
from forestcoll.problem.allreduce_bound import AllreduceBound
from forestcoll.schedule import read_schedule
from forestcoll.schedule.cost_model.measures import synchronous
from forestcoll.topology import Topology, write_topology
from tests.command_line import document, invoke
from tests.hand_networks import network_of
from tests.lp.networks import BETTER, line, one_way_detour

CLUSTERS = [
    *(f"{family}:boxes={boxes}" for family in ("dgx_a100", "dgx_h100") for boxes in (1, 2, 4, 16)),
    *(f"mi250:boxes={boxes}" for boxes in (1, 2, 4, 8)),
    *("torus:dims=4x4", "torus:dims=3x3x3", "ring:nodes=7", "hypercube:dimension=4"),
    *("complete:nodes=5", "paper_example", "fat_tree:leaves=4,hosts=4,spines=2"),
]


@pytest.fixture
def no_program(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever asks for the allreduce program fails."""

    def refuse(*_: Any, **__: Any) -> Improved:
        raise AssertionError("the allreduce program was asked")

    monkeypatch.setattr(forestcoll.allreduce.allreduce_program, "improved", refuse)


# --- who asks gets the best ----------------------------------------------------------------------


@pytest.mark.parametrize(("topology", "best", "combined"), BETTER, ids=str)
def test_best_by_hand(topology: Topology, best: Fraction, combined: Fraction) -> None:
    """Where the optima of both phases, one after the other, are not optimal together."""
    for factored in (False, True):
        schedule = generate(topology, collective="allreduce", factored=factored).schedule
        verdict = verify(schedule)
        assert verdict.algbw_gb_s == verdict.bound_gb_s == best
        assert verdict.optimal
        phases = 1 / sum(optimum(topology, reduction=r).time_s_per_gb for r in (True, False))
        assert phases == combined < best


def test_two_optimal_phases_make_no_optimal_allreduce() -> None:
    """20 GB/s one after the other and 160/7 at once, where 32 is best: not "optimal"."""
    topology = load_topology("docs/examples/heterogeneous.yaml")
    schedule = generate(topology, collective="allreduce", lp_time_limit_s=0).schedule
    verdict = verify(schedule)
    assert verdict.reduce.optimal
    assert verdict.gather.optimal
    assert not verdict.optimal
    assert 1 / verdict.sequential_s_per_gb == 20
    assert verdict.algbw_gb_s == Fraction(160, 7)
    assert verify(generate(topology, collective="allreduce").schedule).algbw_gb_s == 32


@pytest.mark.first_rows(7)
@pytest.mark.usefixtures("no_program")
@pytest.mark.parametrize("spec", CLUSTERS)
def test_cuts_of_both_phases_prove_the_optimum_without_a_program(spec: str) -> None:
    """ForestColl section 5.7: half of the allgather's rate; the bound is a partition."""
    topology = load_topology(spec)
    for factored in (False, True):
        schedule = generate(topology, collective="allreduce", factored=factored).schedule
        verdict = verify(schedule)
        assert verdict.optimal
        assert verdict.algbw_gb_s == optimum(topology).algbw_gb_s / 2
        assert "optimal by the cuts of its phases" in schedule.remark


@pytest.mark.usefixtures("no_program")
@pytest.mark.parametrize("spec", ["dgx_a100:boxes=128", "mi250:boxes=64", "torus:dims=32x32"])
def test_1024_gpus_are_proved_by_their_cuts(spec: str) -> None:
    schedule = generate(load_topology(spec), collective="allreduce", factored=True).schedule
    assert schedule.bound is not None
    assert schedule.bound.algbw_gb_s * schedule.sequential_s_per_gb == 1


def test_the_phases_of_links_in_equal_pairs_mirror_each_other() -> None:
    """One is the other turned round, as a reduce-scatter by itself is."""
    topology = load_topology("mi250:boxes=2")
    both = generate(topology, collective="allreduce").schedule
    alone = generate(topology, collective="reduce-scatter").schedule
    assert (both.reduce.parent == alone.parent).all()
    assert both.reduce.optimum == alone.optimum
    assert both.reduce.routes.paths() == alone.routes.paths()


def test_at_the_time_limit_the_combination_remains() -> None:
    """It says so, and what is known: 3/2 GB/s, at most 2 by a cut."""
    schedule = generate(one_way_detour(), collective="allreduce", lp_time_limit_s=1e-9).schedule
    assert "did not finish in 1e-09 s" in schedule.remark
    verdict = verify(schedule)
    assert (verdict.algbw_gb_s, verdict.bound_gb_s, verdict.optimal) == (Fraction(3, 2), 2, False)


def test_a_slower_program_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a program makes is taken only if it is faster; a lower bound is taken anyhow."""
    topology = one_way_detour()
    slow = generate(topology, collective="allreduce", k=1).schedule
    found = Improved(replace(slow, bound=None), AllreduceBound.of_cut(topology, [0], into=True))
    monkeypatch.setattr(forestcoll.allreduce.allreduce_program, "improved", lambda *_, **__: found)
    best = generate(topology, collective="allreduce").schedule
    assert best.gather.method == "forestcoll"
    assert best.remark.startswith("reduction + gathering; ")


@pytest.mark.usefixtures("no_program")
def test_one_cut_proves_simultaneous_phases_without_a_program() -> None:
    """The star of 1, 1 and 2 GB/s: 1 GB/s at once, as the cut around a GPU of 1 GB/s admits."""
    schedule = generate(BETTER[0][0], collective="allreduce").schedule
    assert schedule.algbw_gb_s == 1 != 1 / schedule.sequential_s_per_gb
    assert schedule.remark == "reduction + gathering, optimal by a cut"


@pytest.mark.usefixtures("no_program")
def test_slow_links_are_proved_as_fast_ones_are() -> None:
    """A fat tree at a ten-thousandth of its bandwidth, whose first partition proves too little."""
    topology = load_topology("fat_tree:leaves=4,hosts=4,spines=2")
    schedule = generate(topology.scaled("*", Fraction(1, 10000)), collective="allreduce").schedule
    assert schedule.bound is not None
    assert schedule.bound.algbw_gb_s == optimum(topology).algbw_gb_s / 20000
    assert schedule.remark == "reduction + gathering, optimal by the cuts of its phases"


@pytest.mark.usefixtures("no_program")
def test_without_seconds_no_program_is_asked() -> None:
    schedule = generate(one_way_detour(), collective="allreduce", lp_time_limit_s=0).schedule
    assert schedule.remark == "reduction + gathering; the allreduce program was not asked"


@pytest.mark.parametrize(
    ("rate", "text", "why"),
    [
        (2, "", "the allreduce program made nothing faster"),
        (2, "it gave up", "it gave up"),
        (Fraction(3, 2), "it gave up", "optimal by the bound of the allreduce program"),
    ],
)
def test_the_remark_states_the_result_of_the_program(
    rate: Fraction, text: str, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The combination makes 3/2 GB/s. A bound of 3/2 proves it, one of 2 does not."""
    topology = one_way_detour()
    bound = replace(AllreduceBound.of_cut(topology, [0], into=True), algbw_gb_s=Fraction(rate))
    found = Improved(None, bound, text)
    monkeypatch.setattr(forestcoll.allreduce.allreduce_program, "improved", lambda *_, **__: found)
    made = generate(topology, collective="allreduce").schedule
    assert (made.algbw_gb_s, made.remark) == (Fraction(3, 2), f"reduction + gathering; {why}")


# --- one model of time ---------------------------------------------------------------------------


@pytest.mark.parametrize(("topology", "best", "combined"), BETTER, ids=str)
def test_schedule_verdict_cost_and_commands_have_one_time(
    topology: Topology, best: Fraction, combined: Fraction, tmp_path: Path
) -> None:
    """Both phases at once; one after the other has another name."""
    network, file = tmp_path / "network.yaml", tmp_path / "schedule.json"
    write_topology(topology, network)
    schedule = generate(topology, collective="allreduce").schedule
    assert cost(schedule).algbw_gb_s == schedule.algbw_gb_s == verify(schedule).algbw_gb_s == best
    made = document("generate", network, "--collective", "allreduce", "-o", file)
    report = [made, document("verify", file)]
    assert {one["algbw_gb_s"]["exact"] for one in report} == {str(best)}
    assert {one["at_most_gb_s"]["exact"] for one in report} == {str(best)}
    assert all(one["optimal"] and one["model"] for one in report)
    found = document("allreduce-optimum", network, "-o", file)
    assert found["schedule_algbw_gb_s"]["exact"] == str(best)
    sequential = verify(read_schedule(file)).sequential_s_per_gb
    assert sequential >= 1 / best
    assert synchronous(schedule).time_s_per_gb >= schedule.sequential_s_per_gb


def damaged(boxes: int, *dead: str) -> Topology:
    """DGX H100 with the NICs of some GPUs dead."""
    whole = load_topology(f"dgx_h100:boxes={boxes}")
    ends = {(whole.position_of[name], whole.position_of["ib"]) for name in dead}
    links = [e for e in whole.links if not {(e.tail, e.head), (e.head, e.tail)} & ends]
    return Topology("damaged", whole.nodes, tuple(links))


def test_three_commands_give_one_answer_for_damaged_boxes(tmp_path: Path) -> None:
    """Sixteen boxes, three NICs dead; before: 160, 209.17 and 104.58 GB/s for one file."""
    topology = damaged(16, "b3.gpu2", "b7.gpu0", "b7.gpu5")
    network, file = tmp_path / "damaged.yaml", tmp_path / "schedule.npz"
    write_topology(topology, network)
    made = document("generate", network, "--collective", "allreduce", "-o", file)
    checked = document("verify", file)
    found = document("allreduce-optimum", network)
    rates = {made["algbw_gb_s"]["exact"], checked["algbw_gb_s"]["exact"]}
    assert rates == {found["schedule_algbw_gb_s"]["exact"]}
    assert made["optimal"] is checked["optimal"] is found["optimal"] is True
    assert checked["algbw_gb_s"]["value"] > 1.9 / checked["sequential_s_per_gb"]["value"]


def test_weights_and_roots_are_kept() -> None:
    """Sums at one GPU of a line of four: 1 GB/s each way over every wire."""
    for options in ({"root": 0}, {"weights": [0, 1, 1, 0]}):
        schedule = generate(line(4), collective="allreduce", **options).schedule
        verdict = verify(schedule)
        assert (verdict.algbw_gb_s, verdict.optimal) == (1, True)
    assert schedule.gather.weights == schedule.reduce.weights == (0, 1, 1, 0)


def test_a_single_gpu_has_no_bound() -> None:
    schedule = generate(network_of("a", "", "alone"), collective="allreduce").schedule
    assert schedule.bound is None
    verdict = verify(schedule)
    assert (verdict.time_s_per_gb, verdict.optimal) == (0, True)


# --- switches that multicast and reduce ----------------------------------------------------------


def test_the_best_k_is_that_of_switches_that_copy() -> None:
    """What is tried is what is made."""
    topology = load_topology("dgx_h100:boxes=2")
    tried = best_k(topology, 3, collective="allreduce", multicast=True)
    for choice in tried.choices:
        made = generate(topology, collective="allreduce", k=choice.k, multicast=True).schedule
        assert (choice.algbw_gb_s, choice.optimal) == (made.algbw_gb_s, made.optimal)


def test_the_command_that_solves_the_program_does_not_contradict_itself(tmp_path: Path) -> None:
    """The star of 1, 1 and 2 GB/s: the combination makes 1 GB/s at once, 3/4 in turn."""
    network = tmp_path / "star.yaml"
    write_topology(BETTER[0][0], network)
    found = document("allreduce-optimum", network)
    assert found["reduce_scatter_and_allgather_gb_s"]["exact"] == "1"
    assert found["one_after_the_other_gb_s"]["exact"] == "3/4"
    assert found["reduce_scatter_and_allgather_is_optimal"] is found["optimal"] is True
    assert found["schedule"] == "forestcoll"


def test_the_command_line_names_model_and_bound(tmp_path: Path) -> None:
    """``generate`` with and without ``--multicast``."""
    spec, file = "dgx_h100:boxes=2,sharp=true", tmp_path / "schedule.json"
    options = [spec, "--collective", "allreduce", "-o", file]
    plain = document("generate", *options)
    assert plain["at_most_gb_s"]["exact"] == "800/3"
    assert plain["model"].endswith("switches only forward")
    copied = document("generate", *options, "--multicast")
    assert (copied["algbw_gb_s"]["exact"], copied["at_most_gb_s"]["exact"]) == ("400", "400")
    assert copied["made_by"] == "allreduce program"
    assert document("verify", file)["optimal"] is True
    limited = document("generate", *options, "--multicast", "--lp-time-limit", 0)
    assert limited["algbw_gb_s"]["exact"] == "320"
    assert limited["optimal"] is False
    assert invoke("generate", *options, "--lp-time-limit", "-1").exit_code == 2
