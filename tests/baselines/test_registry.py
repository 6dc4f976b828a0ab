"""Every baseline, held to what tests/baselines/claims.py says that it does."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import pytest

from baselines import METHODS
from baselines.interface.method import Schedule
from baselines.registry import _Registry as Registry
from forestcoll.core.optimality import optimum
from forestcoll.errors import UnsupportedError, VerificationError
from forestcoll.schedule import (
    Allreduce,
    Forest,
    StepSchedule,
    cost,
    makespan_s_per_gb,
    read_schedule,
    synchronous,
    verify,
    write_schedule,
)
from forestcoll.schedule.flows import FlowSchedule
from forestcoll.schedule.steps import COLLECTIVES
from forestcoll.topology import Node, NodeKind, SharedCapacity, Topology, load_topology
from tests.baselines.claims import (
    CLAIMS,
    TOPOLOGIES,
    examples,
    fingerprint,
    load,
    make,
    run,
    sort_of,
)
from tests.baselines.dead_nics import without
from tests.baselines.once_each import once_each, others_slow
from tests.baselines.planes import split
from tests.baselines.spoiling import spoil

KINDS = [(method, collective) for method, claims in CLAIMS.items() for collective in claims]
DONE = [(*kind, name) for kind in KINDS for name in CLAIMS[kind[0]][kind[1]].does]
EXAMPLES = [(*kind, name) for kind in KINDS for name in examples(*kind)]
FIRST = {method: collective for method, collective, _ in reversed(DONE)}
"""Of each method that does anything, a collective that it does."""


def test_every_method_has_a_row_for_each_of_its_collectives() -> None:
    """Results, figures and tables call the methods by these names."""
    assert set(METHODS) == set(CLAIMS)
    for name, method in METHODS.items():
        assert method.name == name
        assert method.summary
        assert method.source
        assert set(method.collectives) == set(CLAIMS[name])
        for claim in CLAIMS[name].values():
            assert {*claim.does, *claim.untried} <= set(TOPOLOGIES)


def test_default_tests_cover_every_method_on_every_sort_of_network_and_collective() -> None:
    """``make test-all`` runs the other rows too."""
    for rows in (DONE, IN_PLANES, EXAMPLES):
        chosen = once_each(rows)
        assert chosen <= set(rows)
        assert {row[:2] for row in chosen} == {row[:2] for row in rows}
        assert {(row[0], sort_of(row[2])) for row in chosen} == {
            (row[0], sort_of(row[2])) for row in rows
        }
        assert {row[2] for row in chosen} == {row[2] for row in rows}
    assert len(once_each(DONE)) < len(DONE) / 4


@pytest.mark.parametrize(("method", "collective", "name"), others_slow(DONE))
def test_schedules_verify_as_claimed(method: str, collective: str, name: str) -> None:
    """Everything is delivered; no optimum is claimed; and none is beaten."""
    made = make(method, collective, name)
    verdict = verify(made)
    assert verdict.collective == made.collective == collective
    assert not verdict.optimal
    time = cost(made).time_s_per_gb
    phases = made.phases if isinstance(made, Allreduce) else (made,)
    for phase in phases:
        assert phase.method == method
        if isinstance(phase, Forest):
            assert phase.congestion == verify(phase).congestion
            assert phase.optimum is None
    if isinstance(made, Allreduce):  # the phases share the links, or follow one another
        assert max(phase.time_s_per_gb for phase in phases) <= time <= verdict.time_s_per_gb
    else:
        assert time == verdict.time_s_per_gb
    assert time >= lower_bound(made, name)


SPLIT = {
    "dgx_a100:boxes=1": (5, 5, 4, 4),
    "dgx_a100:boxes=2": (1, 3),
    "dgx_h100:boxes=2,sharp=true": (1, 1),
    "mi250:boxes=2,gpus_per_box=8": (2, 1, 2),
    "fat_tree:leaves=3,hosts=1,spines=2": (1, 3),
}
"""Into how many planes to split all switches of a network, and how."""

IN_PLANES = [row for row in DONE if row[2] in SPLIT and row[:2] != ("taccl", "all-to-all")]
"""All that is done there, but what takes seconds for each network."""


@pytest.mark.parametrize(("method", "collective", "name"), others_slow(IN_PLANES))
def test_planes_change_no_rate(method: str, collective: str, name: str) -> None:
    """A switch in planes is the same switch: pipelined, in steps and by the clock."""
    whole = make(method, collective, name)
    made = run(method, collective, split(load(name), SPLIT[name]))
    verify(made)
    assert cost(made).algbw_gb_s == cost(whole).algbw_gb_s
    assert makespan_s_per_gb(made) == makespan_s_per_gb(whole)
    if not isinstance(made, FlowSchedule):  # which has no steps
        assert synchronous(made) == synchronous(whole)


def lower_bound(made: Schedule, name: str) -> Fraction:
    """Seconds per GB that no schedule can do without, by a cut: (*) of ForestColl section 4.

    All that an allreduce sums up must get from any GPU to any other, as in a broadcast. In an
    all-to-all each of the s GPUs inside a cut sends (N - s)/N of the data out, where in an
    allgather it sends 1/N.
    """
    if isinstance(made, Forest):
        return _optimum(name, made.weights, made.reduction)
    size = load(name).num_compute
    if made.collective in ("allgather", "reduce-scatter", "all-to-all"):
        return _optimum(name, (1,) * size, made.collective == "reduce-scatter")
    rooted = isinstance(made, StepSchedule) and made.collective != "allreduce"
    root = int(made.chunks.root[0]) if isinstance(made, StepSchedule) and rooted else 0
    weights = tuple(int(rank == root) for rank in range(size))
    return _optimum(name, weights, made.collective == "reduce")


@cache
def _optimum(name: str, weights: tuple[int, ...], reduction: bool) -> Fraction:
    return 1 / optimum(load(name), weights=weights, reduction=reduction).algbw_gb_s


@pytest.mark.parametrize(("method", "collective"), KINDS)
def test_unclaimed_cases_are_refused(method: str, collective: str) -> None:
    """With a reason, not a wrong schedule or another error; on all other topologies."""
    for name in CLAIMS[method][collective].refuses:
        with pytest.raises(UnsupportedError, match=r"^unsupported: \w+"):
            pytest.fail(f"a schedule on {name}: {make(method, collective, name)}")


@pytest.mark.parametrize("method", METHODS)
def test_other_collectives_are_refused(method: str) -> None:
    """Those that a method does not list."""
    for collective in sorted(set(COLLECTIVES) - set(METHODS[method].collectives)):
        with pytest.raises(UnsupportedError, match=f"^unsupported: {method} has no {collective}"):
            METHODS[method].run(load(TOPOLOGIES[0]), collective)


@pytest.mark.parametrize(("method", "collective", "name"), others_slow(EXAMPLES))
def test_spoilt_schedules_are_rejected(method: str, collective: str, name: str) -> None:
    """What verify accepts stops being acceptable when anything is changed."""
    for fault, spoilt, message in spoil(make(method, collective, name)):
        assert re.search(message, complaint_about(spoilt)), fault


def complaint_about(schedule: Schedule) -> str:
    """What verify finds wrong, nothing if it accepts."""
    try:
        verify(schedule)
    except VerificationError as error:
        return str(error)
    return ""


@pytest.mark.parametrize(("method", "collective", "name"), others_slow(EXAMPLES))
def test_files_return_the_schedule(method: str, collective: str, name: str, tmp_path: Path) -> None:
    """As JSON and as npz, whatever kind of schedule it is."""
    made = make(method, collective, name)
    for suffix in ("json", "npz"):
        path = tmp_path / f"schedule.{suffix}"
        write_schedule(made, path)
        assert read_schedule(path) == made


@pytest.mark.parametrize(("method", "collective", "name"), others_slow(EXAMPLES))
def test_the_same_input_gives_the_same_schedule(method: str, collective: str, name: str) -> None:
    """Twice from scratch: no set order, no randomness, no memory of the call before."""
    again = run(method, collective, load(name))
    assert fingerprint(again) == fingerprint(make(method, collective, name))


def fingerprints() -> dict[str, str]:
    """One schedule of every method."""
    found = {}
    for method, collective in FIRST.items():
        name = examples(method, collective, 1)[0]
        found[method] = fingerprint(make(method, collective, name))
    return found


@pytest.mark.slow
def test_the_hash_seed_does_not_matter() -> None:
    """Another process, whose sets and dictionaries of text are in another order, agrees."""
    program = (
        "import json; from tests.baselines.test_registry import fingerprints; "
        "print(json.dumps(fingerprints()))"
    )
    seed = "2" if os.environ.get("PYTHONHASHSEED") == "1" else "1"
    answer = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONHASHSEED": seed},
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=True,
        timeout=240,
    ).stdout
    assert json.loads(answer) == fingerprints()


@pytest.mark.parametrize(("method", "collective"), FIRST.items())
def test_scaling_bandwidths_scales_the_rate_alone(method: str, collective: str) -> None:
    """With all bandwidths times 7/3 the rate is 7/3 of what it was (latencies left out)."""
    name = examples(method, collective, 1)[0]
    made = make(method, collective, name)
    scaled = run(method, collective, load(name).scaled("*", "7/3"))
    if isinstance(made, StepSchedule) and made.clock is not None:
        return
    assert 3 * cost(scaled).algbw_gb_s == 7 * cost(made).algbw_gb_s


@pytest.mark.parametrize(("method", "collective"), FIRST.items())
def test_gpus_need_not_come_first_among_the_nodes(method: str, collective: str) -> None:
    """With switches in front and in between, positions are not ranks."""
    does = CLAIMS[method][collective].does
    name = next((name for name in does if load(name).switches), None) or does[0]
    topology = load(name)
    order = [*topology.switches[:1], *topology.compute[::-1], *topology.switches[1:]]
    moved = run(method, collective, topology.relabelled(order))
    verify(moved)
    if method not in BY_RANK:
        assert cost(moved).algbw_gb_s == cost(make(method, collective, name)).algbw_gb_s


@pytest.mark.parametrize(("method", "collective"), FIRST.items())
def test_shared_capacities_are_kept_or_refused(method: str, collective: str) -> None:
    """All links together have a third of what one has: a schedule pays for it, or there is none.

    Methods choose as they do without; verify measures the same time as cost, which is longer.
    Those whose clock would break the limit refuse.
    """
    there = map(load, CLAIMS[method][collective].does)
    topology = min(
        (one for one in there if one.num_compute > 2), key=lambda one: one.num_compute
    )  # SCCL needs a round for each of the few bytes that fit
    width = sum((link.bandwidth_gb_s for link in topology.links), Fraction(0))
    ends = tuple((link.tail, link.head) for link in topology.links)
    group = SharedCapacity("all", ends, width / len(ends) / 3)
    limited = replace(topology, shared=(group,))
    if method in CLOCKED:
        with pytest.raises(UnsupportedError, match=f"'all', which the clock of {CLOCKED[method]}"):
            run(method, collective, limited)
        return
    made = run(method, collective, limited)
    assert made.topology.shared == (group,)
    assert verify(made).time_s_per_gb == cost(made).time_s_per_gb
    assert cost(made).busiest_link == ("all",)


CLOCKED = {"tacos": "tacos", "taccl": "taccl", "teccl": "teccl"}
"""Methods that say when everything starts, and how their refusals name them."""

BY_RANK = frozenset({"tacos"})
"""Methods whose rate depends on the order of the GPUs."""


def one_gpu() -> Topology:
    return Topology("alone", (Node("gpu", NodeKind.COMPUTE),), ())


def no_links() -> Topology:
    return Topology("apart", (Node("a", NodeKind.COMPUTE), Node("b", NodeKind.COMPUTE)), ())


def mesh_with_a_gpu_in_the_middle() -> Topology:
    return load_topology("torus:dims=1x3,wrap=false")


@pytest.mark.parametrize(
    ("name", "topology", "parameters", "message"),
    [
        ("ring", one_gpu, {}, "alone has 1 GPUs; a collective needs two"),
        ("multitree", one_gpu, {}, "alone has 1 GPUs; a collective needs two"),
        ("ring", no_links, {}, "no ring .* do not lead from a to b"),
        ("multitree", no_links, {}, "the tree of a cannot reach b"),
        (
            "ring",
            mesh_with_a_gpu_in_the_middle,
            {},
            r"no ring or chain over direct links was found, and",
        ),
        (
            "ring",
            lambda: without("dgx_a100:boxes=2", *(f"b0.gpu{i} - ib" for i in range(8))),
            {},
            "no way for rings to enter and leave every box",
        ),
        ("nccl-tree", one_gpu, {}, "alone has 1 GPUs; a collective needs two"),
        ("double-binary-tree", no_links, {}, "no path from a to b through switches alone"),
        ("direct", one_gpu, {}, "alone has 1 GPUs; a collective needs two"),
        ("direct", no_links, {}, "no path from a to b$"),
        (
            "multitree",
            lambda: load_topology("dgx_a100:boxes=2"),
            {"unit": 26},
            "the tree of b0.gpu0 cannot reach b1.gpu0 .* choose a smaller unit",
        ),
    ],
)
def test_unsupported_cases_raise_typed_errors(
    name: str,
    topology: Callable[[], Topology],
    parameters: dict[str, int],
    message: str,
) -> None:
    """The message begins with "unsupported:" and says why.

    A ring cannot enter a box that has no NIC. A unit of 26 GB/s fits no NIC.
    """
    with pytest.raises(UnsupportedError, match=f"^unsupported: {message}"):
        METHODS[name].generate(topology(), **parameters)


@pytest.mark.parametrize("module", ["baselines", "experiments.run.worker"])
def test_solvers_are_imported_when_they_are_needed(module: str) -> None:
    """Methods are listed, and a worker starts, in less than a second; OR-Tools takes another."""
    heavy = {"ortools", "pandas", "cvxpy", "highspy", "scipy", "networkx", "matplotlib"}
    program = f"import sys, {module}; print(sorted({heavy} & sys.modules.keys()))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.returncode, done.stdout.strip()) == (0, "[]")


def test_a_method_is_looked_for_in_the_module_of_its_name_first() -> None:
    """So a tree of NCCL loads no ring. One-shot has no such module, and comes with direct."""
    program = """
import sys
from baselines import METHODS
METHODS["nccl-tree"]
print(METHODS["one-shot"].name, [f"baselines.libraries.{name}" in sys.modules
    for name in ("nccl_tree", "ring", "direct", "pat")])
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout.strip() == "one-shot [True, True, True, False]"
    alone = program.replace('METHODS["one-shot"].name', "1")
    done = subprocess.run([sys.executable, "-c", alone], capture_output=True, text=True)
    assert done.stdout.strip() == "1 [True, False, False, False]"


def test_methods_of_one_name_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """In one module, and in two."""
    one = METHODS["direct"]
    for name, methods in {"a": (one,), "b": (one,), "twice": (one, one)}.items():
        monkeypatch.setitem(sys.modules, name, SimpleNamespace(METHODS=methods))
    for modules in (["a", "b"], ["twice"]):
        with pytest.raises(ValueError, match=f"{modules[-1]} names a second method 'direct'"):
            list(Registry(modules))
    assert list(Registry(["a"])) == ["direct"]
    assert "ring" not in Registry(["a"])


LOADING = ("ring", "bfb", "all-to-all-lp", "blink", "multitree")
"""One or two methods for each of the libraries, and one that loads none."""

LIKE_THESE = ("torus", "sccl", "tacos")


@pytest.mark.slow
@pytest.mark.parametrize(
    "names", [LOADING, pytest.param(LIKE_THESE, marks=pytest.mark.slow)], ids=len
)
def test_methods_name_the_libraries_that_they_load(names: tuple[str, ...]) -> None:
    """So that experiments load them before they look at the clock. Each runs in its own fork."""
    program = f"""
import os, sys
from baselines import METHODS
from forestcoll import load_topology
topology = load_topology("torus:dims=2x3")
for name in {names!r}:
    child = os.fork()
    if child:
        assert os.waitpid(child, 0)[1] == 0, name
        continue
    method = METHODS[name]
    method.load_libraries()
    before = set(sys.modules)
    method.run(topology, parameters={{"symmetry": True}} if name == "bfb" else {{}})
    loaded = {{module.partition(".")[0] for module in set(sys.modules) - before}}
    found = loaded & {{"ortools", "pandas", "scipy", "networkx", "highspy", "cvxpy"}}
    print(name, sorted(found), flush=True)
    os._exit(0)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [f"{name} []" for name in names]
