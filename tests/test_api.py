"""What ``import forestcoll`` takes: any form of a network, a collective by name, a file."""

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest

import forestcoll
from forestcoll.core.fixed_k import FixedK
from forestcoll.errors import (
    ForestCollError,
    InvalidParameterError,
    InvalidScheduleError,
    InvalidTopologyError,
    UnsupportedError,
    VerificationError,
)
from forestcoll.schedule.simulate import AlphaBeta, Simulator, best_chunk_count
from forestcoll.topology import Node, NodeKind, Topology

SPEC = "dgx_a100:boxes=2"


def forms(tmp_path: Path) -> list[Any]:
    """The same network in every form that is taken."""
    topology = forestcoll.load_topology(SPEC)
    path = tmp_path / "net.yaml"
    forestcoll.write_topology(topology, path)
    return [topology, SPEC, str(path), path, topology.to_networkx()]


def test_every_function_of_a_network_takes_every_form(tmp_path: Path) -> None:
    """With the same result for all of them."""
    functions: list[Callable[[Any], object]] = [
        lambda net: forestcoll.optimum(net).inverse_rate,
        lambda net: forestcoll.fixed_k(net, 1).congestion,
        lambda net: forestcoll.best_k(net, 2).fastest.k,
        lambda net: str(forestcoll.certify(net)),
        lambda net: forestcoll.generate(net).schedule.algbw_gb_s,
        lambda net: forestcoll.generate(net, factored=True).schedule.algbw_gb_s,
        lambda net: forestcoll.generate(net, routed=True).forest.algbw_gb_s,
        lambda net: forestcoll.generate(net, multicast=True).schedule.algbw_gb_s,
    ]
    for function in functions:
        assert len({function(form) for form in forms(tmp_path)}) == 1


def test_every_function_of_a_schedule_takes_its_result_too(tmp_path: Path) -> None:
    """And the file that holds it; the answers are the same."""
    made = forestcoll.generate("mi250:boxes=1")
    path = tmp_path / "schedule.npz"
    forestcoll.write_schedule(made, path)
    assert forestcoll.read_schedule(path) == made.schedule
    functions: list[Callable[[Any], Any]] = [
        forestcoll.verify,
        forestcoll.cost,
        forestcoll.latency,
        forestcoll.compile_program,
        forestcoll.expand,
        forestcoll.multicast,
        lambda one: forestcoll.simulate(one, "1MB"),
        lambda one: forestcoll.replan(one, "mi250:boxes=1,xgmi_bandwidth=40").schedule,
        lambda one: forestcoll.draw.svg_text(forestcoll.draw.draw_tree(one, 0)),
    ]
    for function in functions:
        assert function(made) == function(made.schedule) == function(path)


@pytest.mark.parametrize("network", [3, None, ["dgx_a100:boxes=2"], {}])
def test_other_types_than_networks_are_refused_with_the_accepted_ones(network: object) -> None:
    for function in (forestcoll.optimum, forestcoll.generate, forestcoll.certify):
        with pytest.raises(InvalidTopologyError, match=r"give a Topology, a specification such as"):
            function(network)  # type: ignore[operator]


def test_a_graph_without_bandwidths_is_refused() -> None:
    with pytest.raises(InvalidTopologyError, match="has no bandwidth_gb_s"):
        forestcoll.optimum(nx.complete_graph(3))


@pytest.mark.parametrize(
    ("asked", "same"),
    [
        ({}, {}),
        ({"collective": "allgather"}, {}),
        ({"collective": "reduce-scatter"}, {"reduction": True}),
        ({"collective": "broadcast", "root": 3}, {"weights": [0] * 3 + [1] + [0] * 12}),
        (
            {"collective": "reduce", "root": "b0.gpu3"},
            {"weights": [0] * 3 + [1] + [0] * 12, "reduction": True},
        ),
        ({"collective": "allgather", "weights": [2] + [1] * 15}, {"weights": [2] + [1] * 15}),
    ],
)
def test_optimum_takes_collectives(asked: dict[str, Any], same: dict[str, Any]) -> None:
    """The same as by weights and the direction; with k the best with so many trees."""
    found = forestcoll.optimum(SPEC, **asked)
    assert found == forestcoll.optimum(SPEC, **same)
    assert found.collective == asked.get("collective", "allgather")
    fixed = forestcoll.optimum(SPEC, k=2, **asked)
    assert isinstance(fixed, FixedK)
    assert (fixed.k, fixed.optimum.collective) == (2, found.collective)


@pytest.mark.parametrize(
    ("asked", "error", "message"),
    [
        ({"collective": "allreduce", "k": 2}, UnsupportedError, "no bound of its own for k trees"),
        ({"collective": "gossip"}, UnsupportedError, "must be one of allgather"),
        ({"collective": "broadcast"}, InvalidParameterError, "broadcast needs a root"),
        ({"root": 3}, InvalidParameterError, "allgather takes no root"),
        (
            {"collective": "allgather", "reduction": True},
            InvalidParameterError,
            "allgather is none; leave it out",
        ),
    ],
)
def test_contradictions(asked: dict[str, Any], error: type[ForestCollError], message: str) -> None:
    with pytest.raises(error, match=message):
        forestcoll.optimum(SPEC, **asked)


def test_verify_and_latency_take_the_path_of_a_schedule(tmp_path: Path) -> None:
    """As the schedule in it; nothing in a file is believed."""
    forest = forestcoll.generate(SPEC).schedule
    for name in ("a.json", "a.npz"):
        forestcoll.write_schedule(forest, tmp_path / name)
        for path in (tmp_path / name, str(tmp_path / name)):
            assert forestcoll.verify(path) == forestcoll.verify(forest)
            assert forestcoll.latency(path) == forestcoll.latency(forest)
    with pytest.raises(InvalidScheduleError, match=r"nowhere\.json"):
        forestcoll.verify(tmp_path / "nowhere.json")
    text = (tmp_path / "a.json").read_text()
    wrong = text.replace('"multiplicity": 24', '"multiplicity": 23', 1)
    assert wrong != text
    (tmp_path / "a.json").write_text(wrong)
    with pytest.raises(VerificationError):
        forestcoll.verify(tmp_path / "a.json")


def test_short_floats_are_bandwidths_and_weights() -> None:
    """12.5 GB/s on four links out of each of 5 GPUs; half as much data on each as on the first."""
    graph = nx.complete_graph(5)
    nx.set_edge_attributes(graph, 12.5, "bandwidth_gb_s")
    assert forestcoll.optimum(graph).algbw_gb_s == Fraction(125, 2)
    halves = forestcoll.optimum(graph, weights=[1, 0.5, 0.5, 0.5, 0.5])
    assert halves.weights == (2, 1, 1, 1, 1)


def test_simulate_takes_schedules_files_and_written_sizes(tmp_path: Path) -> None:
    """The same as by hand; the best pipeline chunks again with the use of links."""
    forest = forestcoll.generate("dgx_a100:boxes=2").schedule
    path = tmp_path / "a100.npz"
    forestcoll.write_schedule(forest, path)
    simulator = Simulator(forestcoll.compile_program(forest))
    due = best_chunk_count(simulator, 2**26, AlphaBeta(alpha_us=3))
    for given, size in ((forest, "64MB"), (path, 2**26), (str(path), "64 MiB")):
        assert forestcoll.simulate(given, size, alpha_us=3) == due
    drawn = forestcoll.simulate(forest, "64MB", alpha_us=3, bins=10)
    assert drawn.usage is not None
    assert (drawn.pipeline_chunks, drawn.time_s) == (due.pipeline_chunks, pytest.approx(due.time_s))
    assert (
        forestcoll.simulate(forest, 2**26, pipeline_chunks=2, sharing="fifo").pipeline_chunks == 2
    )
    assert forestcoll.simulate(forest, np.int64(2**26), pipeline_chunks=2).size_bytes == 2**26  # type: ignore[arg-type]
    assert forestcoll.simulate(forest, 10**18, pipeline_chunks=2).size_bytes == 10**18
    with pytest.raises(InvalidParameterError, match="has no clock"):
        forestcoll.simulate(forest, 2**26, keep_clock=True)
    for size in ("64QB", 0, -1):
        with pytest.raises(InvalidParameterError, match=r"^size has"):
            forestcoll.simulate(forest, size)


EXAMPLE = Path(__file__).parents[1] / "docs/examples/heterogeneous.yaml"


def test_the_optimum_of_an_allreduce_is_a_bound_with_its_model() -> None:
    """Three unlike boxes: 32 GB/s, where reduce-scatter + allgather reach 20."""
    found = forestcoll.optimum(EXAMPLE, collective="allreduce")
    assert found.algbw_gb_s == 32
    assert found.model == "each piece summed up at one GPU; switches only forward"
    made = forestcoll.generate(EXAMPLE, collective="allreduce")
    assert made.schedule.bound == found


def test_an_allreduce_of_a_single_gpu_has_no_bound() -> None:
    alone = Topology("alone", (Node("g", NodeKind.COMPUTE),), ())
    with pytest.raises(UnsupportedError, match="a single GPU"):
        forestcoll.optimum(alone, collective="allreduce")
