"""Distances: of both ways the same, to the last bit."""

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forestcoll.topology import load_topology, shortest_paths
from forestcoll.topology.shortest_paths import distances

_ENDS = st.integers(0, 7)
_LENGTHS = st.sampled_from([0.0, 0.1, 0.3, 1.0, 2.0**40]) | st.floats(0, 1e6)
_LINKS = st.dictionaries(st.tuples(_ENDS, _ENDS), _LENGTHS, max_size=30)


@given(_LINKS, st.lists(_ENDS, unique=True, max_size=8))
def test_passes_find_what_dijkstra_finds(
    links: dict[tuple[int, int], float], starts: list[int]
) -> None:
    """Exactly, also where sums are rounded, links have no length and nodes are out of reach."""
    tail, head = np.array(list(links), dtype=np.int32).reshape(-1, 2).T
    given = (8, tail, head, np.array(list(links.values())), np.array(starts, dtype=np.int64))
    found = shortest_paths._by_passes(*given, shortest_paths._MOST_PASSES)
    assert found is not None
    if starts:  # of none, scipy would start at all
        np.testing.assert_array_equal(found, shortest_paths._by_scipy(*given))
    assert found.shape == (len(starts), 8)


def test_a_small_example_by_hand() -> None:
    """From 0 to 2 over 1: 0 + 1 + 2, shorter than the link of length 4; nothing enters 0."""
    tail, head = np.array([0, 1, 0]), np.array([1, 2, 2])
    found = distances(3, tail, head, np.array([1.0, 2.0, 4.0]), np.arange(3))
    assert found.tolist() == [[0, 1, 3], [np.inf, 0, 2], [np.inf, np.inf, 0]]


@pytest.mark.parametrize(
    ("network", "by_scipy"), [("torus:dims=4x4", False), ("ring:nodes=150", True)]
)
def test_long_paths_are_left_to_scipy(
    network: str, by_scipy: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A ring of 150 nodes takes more passes than are made."""
    topology = load_topology(network)
    asked = []
    plain = shortest_paths._by_scipy
    monkeypatch.setattr(
        shortest_paths, "_by_scipy", lambda *given: asked.append(given) or plain(*given)
    )
    size = len(topology.nodes)
    hops = distances(size, *topology.link_ends, np.ones(len(topology.links)), np.arange(size))
    assert (len(asked) == 1) == by_scipy
    assert hops.max() == {"torus:dims=4x4": 4, "ring:nodes=150": 75}[network]


def test_large_networks_are_left_to_scipy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shortest_paths, "_MANY", 2)
    monkeypatch.setattr(shortest_paths, "_by_passes", None)
    one = np.array([1.0])
    found = distances(3, np.array([0]), np.array([1]), one, np.array([0, 1]))
    assert found.tolist() == [[0, 1, np.inf], [np.inf, 0, np.inf]]


@pytest.mark.parametrize(
    ("gpus", "once", "by_scipy"), [(8, True, False), (8, False, True), (24, True, True)]
)
def test_a_single_question_is_answered_without_scipy_where_paths_are_short(
    gpus: int, once: bool, by_scipy: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Paths of 4 hops around a ring of 8 take 5 passes; those around one of 24 more than 6."""
    monkeypatch.setattr(shortest_paths, "_MANY", 2)
    asked = []
    plain = shortest_paths._by_scipy
    monkeypatch.setattr(
        shortest_paths, "_by_scipy", lambda *given: asked.append(given) or plain(*given)
    )
    topology = load_topology(f"ring:nodes={gpus}")
    ones, nodes = np.ones(len(topology.links)), np.arange(gpus)
    hops = distances(gpus, *topology.link_ends, ones, nodes, once=once)
    assert hops.max() == gpus // 2
    assert (len(asked) == 1) == by_scipy


def test_small_networks_load_no_scipy() -> None:
    """Its import takes longer than most commands."""
    program = """
import sys
import numpy as np
from forestcoll.topology import load_topology
from forestcoll.topology.shortest_paths import distances
topology = load_topology("tpu_v5e:dims=8x16")
ones = np.ones(len(topology.links))
print(int(distances(128, *topology.link_ends, ones, np.arange(128)).max()), "scipy" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout.split() == ["15", "False"]
