"""Schedules that may be the best: made, verified, or why not."""

from dataclasses import replace
from typing import Any

import pytest

import forestcoll
from baselines.registry import METHODS
from experiments.advice.tuning import candidates
from experiments.advice.tuning.candidates import made
from experiments.advice.tuning.recipe import Recipe, forests
from forestcoll.errors import SolverError, VerificationError
from forestcoll.schedule import verify
from forestcoll.topology import Topology, load_topology

RING = load_topology("ring:nodes=4")


def of(name: str, topology: Topology = RING, collective: str = "allgather", **more: Any) -> Any:
    seconds = more.pop("seconds", 30)
    return made(Recipe(name, name, more), topology, collective, None, seconds).candidate


def test_a_candidate_is_verified_and_lowered() -> None:
    """Four shards each over three links, as two rings: in three steps."""
    found = made(Recipe("r", "ring"), RING, "allgather", None, 30)
    one = found.candidate
    assert (one.name, one.method, one.note) == ("r", "ring", "")
    assert one.schedule is not None
    verify(one.schedule)
    assert one.steps == 3
    assert found.simulator is not None
    assert found.simulator.program.num_transfers == one.transfers == 2 * 4 * 3


@pytest.mark.parametrize(
    ("name", "topology", "collective", "note"),
    [
        ("nccl-tree", "ring:nodes=4", "allgather", "unsupported: nccl-tree has no allgather"),
        ("bfb", "dgx_a100:boxes=1", "allgather", "has switches"),
        ("ring", "ring:nodes=4", "all-to-all", "unsupported: ring has no all-to-all"),
        ("syccl", "ring:nodes=4", "allgather", "GPUs outside boxes"),
    ],
)
def test_unsupported_keeps_its_reason(name: str, topology: str, collective: str, note: str) -> None:
    one = of(name, load_topology(topology), collective)
    assert one.schedule is None
    assert note in one.note
    assert "\n" not in one.note


def test_unsupported_arguments_are_noted_as_the_reason() -> None:
    one = made(Recipe("r", "ring"), RING, "allreduce", 2, 30).candidate
    assert (
        one.note
        == "unsupported: ring takes no root for allreduce; it does for broadcast and reduce"
    )


def test_candidates_over_the_time_limit_are_not_tried() -> None:
    assert of("ring", seconds=0).note == "took longer than 0 s to make"


def test_the_same_schedule_is_tried_once() -> None:
    """A box of eight behind a switch needs one tree a GPU: more of them are the same."""
    box = load_topology("dgx_a100:boxes=1")
    found: list[candidates.RunResult] = []
    for recipe in forests(box):
        found.append(made(recipe, box, "allgather", None, 30, found))
    assert [one.candidate.note for one in found] == ["", *["the same as forest, k=1"] * 9]
    ring = made(Recipe("ring", "ring"), box, "allgather", None, 30, found)
    assert ring.simulator is not None


def test_other_trees_over_other_paths_are_not_the_same() -> None:
    torus = load_topology("torus:dims=4x4")
    found: list[candidates.RunResult] = []
    for recipe in forests(torus):
        found.append(made(recipe, torus, "allgather", None, 30, found))
    assert [bool(one.simulator) for one in found[:5]] == [True, False, False, True, False]


def change(monkeypatch: pytest.MonkeyPatch, name: str, generate: Any) -> None:
    changed = {**METHODS, name: replace(METHODS[name], generate=generate)}
    monkeypatch.setattr("experiments.config.methods.METHODS", changed)


def test_typed_failures_are_kept_and_bugs_are_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(topology: Topology, collective: str) -> Any:
        raise SolverError("no answer,\nagain")

    def broken(topology: Topology, collective: str) -> Any:
        raise KeyError("bug")

    change(monkeypatch, "ring", failing)
    assert of("ring").note == "no answer, again"
    change(monkeypatch, "ring", broken)
    with pytest.raises(KeyError):
        of("ring")


def test_a_wrong_schedule_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(topology: Topology, collective: str) -> Any:
        forest = forestcoll.generate(topology).schedule
        return replace(forest, parent=forest.parent[:, ::-1].copy())

    change(monkeypatch, "ring", wrong)
    with pytest.raises(VerificationError):
        of("ring")
